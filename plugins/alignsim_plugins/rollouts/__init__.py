"""What generating responses keeps in memory."""
