"""Traces of OpenTelemetry: their spans recorded as actions of the sessions that they name."""
