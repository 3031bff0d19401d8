"""Spans of OpenTelemetry, as actions of sessions."""
