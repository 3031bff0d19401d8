"""Running recorded steps again, and comparing what came out."""
