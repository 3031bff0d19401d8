"""Evidence bundles: the zip files that an auditor verifies offline."""
