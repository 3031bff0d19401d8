"""How significant each step is: changes by people and programs, and compressed sessions, stored separately from the record."""
