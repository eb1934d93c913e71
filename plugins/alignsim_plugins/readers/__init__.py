"""What reads models and adapters from files of others."""
