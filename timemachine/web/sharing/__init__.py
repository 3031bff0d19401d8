"""Pages of share links, seals and evidence."""
