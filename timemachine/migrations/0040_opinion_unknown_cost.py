"""An opinion keeps what is known of its cost beside how many of its calls are of unknown price."""

from django.db import migrations, models

TOLD_BEFORE = """
UPDATE tm_cell_opinion SET unknown_cost_calls = CASE WHEN state = 'lost' THEN 1 ELSE calls_made END
WHERE cost_usd IS NULL AND (state = 'lost' OR calls_made > 0)
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0039_judge_asked_again")]

    operations = [
        migrations.AddField(
            model_name="cellopinion",
            name="unknown_cost_calls",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(TOLD_BEFORE, migrations.RunSQL.noop),
    ]
