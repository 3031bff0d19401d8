"""The second factor of signing in: authenticator apps, passkeys, recovery codes."""
