"""The steps of a session, and what they add up to, as the API takes and returns them."""
