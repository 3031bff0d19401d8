"""What the proxy records of a call, computed from the bytes that passed."""
