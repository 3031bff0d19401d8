"""Several models over the same frozen contexts: the runs, their cells side by side, and what the figures show."""
