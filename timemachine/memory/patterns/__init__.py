"""The same error, or the same question, in several sessions: how often, since when, what solved it, and who is told."""
