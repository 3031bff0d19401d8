"""A session run again: the plan, the steps with their leases, and what each came to."""
