"""Notes that people and programs add to the steps of a session, stored separately from the record."""
