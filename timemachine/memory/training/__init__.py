"""Training pairs: the problem of a session and its solution, as chats or preferences, redacted."""
