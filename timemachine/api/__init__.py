"""The door for programs: JSON over HTTP."""
