"""OpenTelemetry spans as actions of sessions."""
