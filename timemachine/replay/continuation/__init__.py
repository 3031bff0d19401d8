"""Going on from a recorded model call with another model, prompt or messages; tools are answered from the record."""
