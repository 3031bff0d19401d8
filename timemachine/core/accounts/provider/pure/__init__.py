"""What needs no framework: the mapping of groups to roles."""
