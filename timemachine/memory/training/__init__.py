"""Training pairs: what a session's problem was and what solved it, as chats and as preferences, with what is withheld left out."""
