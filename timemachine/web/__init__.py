"""The door for people: pages."""
