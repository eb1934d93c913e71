"""What a process takes of a device whatever it computes: contexts, workspaces, communicators, fragments."""
