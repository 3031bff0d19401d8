"""What a session says to the agent itself: its turns in order, or the part of them that matters."""
