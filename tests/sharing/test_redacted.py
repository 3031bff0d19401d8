"""What a link with a redaction profile withholds: nothing of it is in any byte that a visitor can get."""
