"""What training frameworks do by default, one framework and version a file."""
