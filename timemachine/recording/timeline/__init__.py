"""The read side of a session: rows, one step in detail, the state at a step."""
