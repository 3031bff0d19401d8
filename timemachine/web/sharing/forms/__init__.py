"""Forms of the sharing pages."""
