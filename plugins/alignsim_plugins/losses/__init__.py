"""Loss paths: what becomes of the logits between the head and the loss, in each framework and version."""
