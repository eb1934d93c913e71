"""Measurements of others, and the scenarios that answer for them."""
