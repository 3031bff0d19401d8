"""Reading a session: rows, one step in detail, and the state at a step."""
