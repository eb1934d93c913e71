"""Families of models: how the ``config.json`` of each ``model_type`` is read. One file a maker."""
