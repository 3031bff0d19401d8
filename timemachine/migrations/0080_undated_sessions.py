"""Which imported sessions came from files without times is kept, and no time of the import is told as theirs."""

from django.db import migrations, models

MARKED = """
UPDATE tm_session SET is_undated = true, ended_at = NULL
WHERE imported_as IS NOT NULL AND abs(extract(epoch FROM started_at - created_at)) < 2
"""
AS_BEFORE = "UPDATE tm_session SET ended_at = started_at WHERE is_undated AND ended_at IS NULL"


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0079_answers_of_deliveries")]
    operations = [
        migrations.AddField(
            model_name="session",
            name="is_undated",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunSQL(MARKED, AS_BEFORE),
    ]
