"""The commands of sharing: links, opening them, and what their visitors do."""
