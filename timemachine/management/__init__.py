"""`manage.py` commands for operators, and the demo data."""
