"""How a trainer hands its weights to a rollout engine."""
