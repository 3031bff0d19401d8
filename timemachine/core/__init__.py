"""What everything else stands on: errors, ids, time, hashing, payloads, leases, accounts."""
