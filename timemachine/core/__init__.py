"""The foundation of all other packages: errors, ids, time, hashing, payloads, leases, jobs and accounts."""
