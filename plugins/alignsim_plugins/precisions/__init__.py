"""Number formats of weights and gradients."""
