"""How model state and work are spread over devices."""
