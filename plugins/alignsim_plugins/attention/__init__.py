"""Attention kernels: what they keep and what they need."""
