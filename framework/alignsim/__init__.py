"""Predict the memory of language-model alignment runs, phase by phase."""

__version__ = "0.1.0"
