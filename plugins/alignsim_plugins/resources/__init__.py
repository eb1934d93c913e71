"""What terms take up."""
