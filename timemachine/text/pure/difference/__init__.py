"""What differs: two texts, two answers, two ranked lists. Pure."""
