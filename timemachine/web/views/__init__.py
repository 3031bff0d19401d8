"""Views without an area of their own."""
