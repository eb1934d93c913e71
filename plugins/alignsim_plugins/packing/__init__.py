"""How sequences are put into a batch."""
