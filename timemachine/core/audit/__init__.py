"""What happened in a project that a company has to account for: who did it, from where, to what. `governance.audit_log` reads it."""
