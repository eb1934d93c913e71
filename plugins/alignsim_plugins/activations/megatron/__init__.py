"""The modelling code of Megatron-Core with TransformerEngine: fused, and divided over tensor and context ranks."""
