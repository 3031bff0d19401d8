"""OpenTelemetry traces: record their spans as actions of the sessions that they name."""
