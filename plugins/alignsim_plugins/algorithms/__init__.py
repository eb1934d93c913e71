"""Alignment algorithms, one table a file."""
