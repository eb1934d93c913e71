"""Which parameters are trained, and what adapters add."""
