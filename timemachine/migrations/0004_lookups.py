"""Look up sessions by a part of their name, key or tags, and steps that were copied from another session, by indexes."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0003_sessions_by_start'),
    ]

    operations = [
        migrations.RunSQL((SQL / "lookups.sql").read_text(encoding="utf-8")),
    ]
