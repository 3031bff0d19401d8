"""Who may see what, and for how long: share links, deletion, retention."""
