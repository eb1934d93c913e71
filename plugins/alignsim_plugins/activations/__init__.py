"""What the modelling code of a framework keeps and needs, layer by layer."""
