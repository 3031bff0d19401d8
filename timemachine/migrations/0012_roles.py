"""Let the application connect as a role that does not own the tables."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0011_audit_forwarding_failing_since")]
    operations = [migrations.RunSQL((SQL / "roles.sql").read_text(encoding="utf-8"))]
