"""Evidence that an auditor can check independently: commitments, a tree over the records, signed checkpoints, the bundle."""
