"""The bell: one worker at a project's work at a time, and whom to ring for what nobody is at."""
