"""What the figures of a comparison show is kept once it was computed, until one of its replays is erased."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

FORGETS = """
CREATE OR REPLACE FUNCTION tm_comparison_without_replays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_comparison_findings AS f WHERE f.comparison_id = OLD.comparison_id;
    DELETE FROM tm_comparison AS c WHERE c.id = OLD.comparison_id
        AND NOT EXISTS (SELECT FROM tm_comparison_replay AS r WHERE r.comparison_id = c.id);
    RETURN NULL;
END $$;
"""
KEEPS = """
CREATE OR REPLACE FUNCTION tm_comparison_without_replays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_comparison AS c WHERE c.id = OLD.comparison_id
        AND NOT EXISTS (SELECT FROM tm_comparison_replay AS r WHERE r.comparison_id = c.id);
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0025_sweep")]

    operations = [
        migrations.CreateModel(
            name="ComparisonFindings",
            fields=[
                (
                    "comparison",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        primary_key=True,
                        related_name="findings",
                        serialize=False,
                        to="timemachine.comparison",
                    ),
                ),
                ("cells", models.CharField(max_length=80, null=True)),
                ("content", models.TextField(null=True)),
                ("answers", models.IntegerField(default=0)),
                ("computed_at", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("rung_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "tm_comparison_findings",
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(cells=None, content=None, computed_at=None)
                        | Q(cells__isnull=False, content__isnull=False, computed_at__isnull=False),
                        name="comparison_findings_whole_or_none",
                    )
                ],
            },
        ),
        migrations.RunSQL(FORGETS, KEEPS),
    ]
