"""Ask: find passages, build the prompt, call the model, ground and price the answer."""
