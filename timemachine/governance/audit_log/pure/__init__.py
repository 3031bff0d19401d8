"""The form of events, without any framework."""
