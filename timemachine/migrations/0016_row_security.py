"""Show the application only the rows of the project that it works for."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0015_packed_payloads")]
    operations = [migrations.RunSQL((SQL / "row_security.sql").read_text(encoding="utf-8"))]
