"""Forms of the comparisons pages."""
