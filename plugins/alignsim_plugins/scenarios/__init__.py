"""Ready-made scenarios, and kinds of scenario beside the ordinary run."""
