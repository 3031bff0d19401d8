"""The actions that are recorded, without any framework."""
