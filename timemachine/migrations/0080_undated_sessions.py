"""Which imported sessions came from files without times is kept, and no time of the import is told as theirs."""

from django.db import migrations, models

# no file can tell a time after the moment of its import: an end behind that was invented, and with it the beginning, where no step has a time either
MARKED = """
UPDATE tm_session s SET is_undated = true, ended_at = NULL
WHERE imported_as IS NOT NULL AND abs(extract(epoch FROM started_at - created_at)) < 2
AND (ended_at IS NULL OR ended_at >= created_at)
AND NOT EXISTS (SELECT FROM tm_action a WHERE a.session_id = s.id AND a.started_at IS NOT NULL)
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
