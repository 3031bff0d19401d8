"""How much each step matters: what a person or a program said of it since, what rules propose, what was compressed. Beside the record."""
