"""What a text says, cheaply and explainably: sentences, numbers, names, negations, refusals. Pure."""
