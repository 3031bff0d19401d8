"""What an auditor can check without us: commitments, a tree over the records, signed checkpoints, the bundle."""
