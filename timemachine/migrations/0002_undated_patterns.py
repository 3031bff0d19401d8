"""Imported steps without times have none in patterns, either."""

from django.db import migrations, models
from django.db.models import F, Q

FORGET_TIMES_OF_IMPORT = """
UPDATE tm_pattern_step AS p SET at = NULL
FROM tm_action AS a JOIN tm_session AS s ON s.id = a.session_id
WHERE a.id = p.action_id AND a.started_at IS NULL AND s.imported_as IS NOT NULL;

UPDATE tm_wording AS w SET stale = true FROM tm_pattern_step AS p WHERE p.wording_id = w.id AND p.at IS NULL;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("timemachine", "0001_initial"),
    ]

    operations = [
        migrations.AlterField(model_name="patternstep", name="at", field=models.DateTimeField(null=True)),
        migrations.AddField(model_name="wording", name="undated", field=models.IntegerField(default=0)),
        migrations.RemoveIndex(model_name="wording", name="pattern_newest"),
        migrations.AddIndex(
            model_name="wording",
            index=models.Index(
                "project",
                F("last_at").desc(nulls_last=True),
                F("id").desc(),
                condition=Q(pattern=F("id")),
                name="pattern_newest",
            ),
        ),
        migrations.RunSQL(FORGET_TIMES_OF_IMPORT),
    ]
