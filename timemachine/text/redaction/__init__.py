"""What is withheld from a reader: rules kept as profiles of a project, and applying them to a text, a value, a recorded step."""
