"""Texts as vectors: one file a model, and `table` to choose among them. Vectors of two models are never compared. No Django."""
