"""How much each step matters: what a person or a program said of it since, and which sessions were compressed. Beside the record."""
