"""Text analysis: language, documents, differences, grounding, redaction."""
