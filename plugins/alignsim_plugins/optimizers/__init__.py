"""Optimizers: what they keep for every parameter."""
