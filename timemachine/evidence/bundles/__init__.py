"""Evidence bundles: the ZIP files that an auditor verifies offline."""
