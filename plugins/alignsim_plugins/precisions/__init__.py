"""Number formats of weights, gradients and arithmetic."""
