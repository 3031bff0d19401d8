"""What judges cost counts against the spend limit that they share with the replays of their comparison."""

from django.db import migrations, models

JUDGED_BEFORE = """
INSERT INTO tm_call_beside (id, spend_group, reserved_usd, cost_usd, lost_after, finished_at)
SELECT opinion.id, opinion.comparison_id, NULL, opinion.cost_usd, opinion.asked_at, opinion.finished_at
FROM tm_cell_opinion AS opinion JOIN tm_comparison ON tm_comparison.id = opinion.comparison_id
WHERE tm_comparison.spend_limit_usd IS NOT NULL AND opinion.asked_at IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0036_suite_report")]

    operations = [
        migrations.CreateModel(
            name="CallBeside",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("spend_group", models.UUIDField()),
                ("reserved_usd", models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ("cost_usd", models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ("lost_after", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "tm_call_beside",
                "indexes": [models.Index(fields=["spend_group"], name="call_beside_of_spend_group")],
            },
        ),
        migrations.RunSQL(JUDGED_BEFORE, migrations.RunSQL.noop),
    ]
