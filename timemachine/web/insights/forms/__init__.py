"""Forms of the insights pages."""
