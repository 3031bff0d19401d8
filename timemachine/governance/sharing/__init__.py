"""Share links for people without an account: one scope, opened, counted, revoked."""
