"""How many steps hold a word, for words that many hold, until something of the project is erased; and alerts of patterns are counted for their windows."""

import django.db.models.deletion
from django.db import migrations, models

FORGOTTEN = """
CREATE FUNCTION tm_forget_counted_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('counted words ' || OLD.project_id, 0));
    DELETE FROM tm_counted_word WHERE project_id = OLD.project_id;
    RETURN NULL;
END $$;
CREATE TRIGGER counted_words_forgotten AFTER DELETE OR UPDATE OF erasures ON tm_indexed_session
FOR EACH ROW EXECUTE FUNCTION tm_forget_counted_words();
"""
KEPT = """
DROP TRIGGER counted_words_forgotten ON tm_indexed_session;
DROP FUNCTION tm_forget_counted_words();
"""
ALERTS = "UPDATE tm_wording SET stale = true WHERE id IN (SELECT pattern_id FROM tm_pattern_alert)"


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0074_sketches_made")]
    operations = [
        migrations.CreateModel(
            name="CountedWord",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("word", models.TextField()),
                ("steps", models.BigIntegerField()),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="timemachine.project",
                    ),
                ),
            ],
            options={
                "db_table": "tm_counted_word",
                "constraints": [
                    models.UniqueConstraint(fields=("project", "word"), name="counted_word_once")
                ],
            },
        ),
        migrations.RunSQL(FORGOTTEN, KEPT),
        migrations.RunSQL(ALERTS, migrations.RunSQL.noop),
    ]
