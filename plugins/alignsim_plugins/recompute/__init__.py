"""What backward reads from memory, and what it computes again."""
