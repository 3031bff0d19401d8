"""Which imported sessions came from files without times is kept, and no time of the import is told as theirs."""

from django.db import migrations, models

# where a file told no times, an import made them up: the beginning before its first step, the end right after its last
MARKED = """
UPDATE tm_session s SET is_undated = true, ended_at = NULL
WHERE imported_as IS NOT NULL AND abs(extract(epoch FROM started_at - created_at)) < 2
AND NOT EXISTS (SELECT FROM tm_action a WHERE a.session_id = s.id AND a.started_at IS NOT NULL)
AND (ended_at IS NULL OR ended_at >= created_at AND (
    ended_at < created_at + interval '2 seconds'
    OR EXISTS (
        SELECT FROM tm_action a WHERE a.session_id = s.id
        AND a.recorded_at BETWEEN s.ended_at - interval '5 seconds' AND s.ended_at
    )
))
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
