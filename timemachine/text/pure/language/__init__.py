"""What a text says, by cheap and explainable rules: sentences, numbers, names, negations, refusals."""
