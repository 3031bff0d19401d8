"""Reading texts: language, documents, differences, grounding, redaction."""
