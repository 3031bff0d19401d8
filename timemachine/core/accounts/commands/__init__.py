"""Commands that change accounts."""
