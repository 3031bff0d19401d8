"""Follow the transcripts that agents write on this machine, and send them while they grow."""
