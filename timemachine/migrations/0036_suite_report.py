"""The report of a run of a suite is kept, step by step."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0035_suite_problem")]

    operations = [
        migrations.CreateModel(
            name="SuiteStep",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("place", models.IntegerField()),
                ("change", models.CharField(max_length=20)),
                (
                    "after",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="+",
                        to="timemachine.replaystep",
                    ),
                ),
                (
                    "before",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="+",
                        to="timemachine.replaystep",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="report",
                        to="timemachine.suiterun",
                    ),
                ),
            ],
            options={
                "db_table": "tm_suite_step",
                "indexes": [models.Index(fields=["run", "change", "place"], name="suite_step_by_change")],
                "constraints": [
                    models.UniqueConstraint(fields=["run", "place"], name="suite_step_place_once"),
                    models.CheckConstraint(
                        condition=models.Q(("before__isnull", False), ("after__isnull", False), _connector="OR"),
                        name="suite_step_is_somewhere",
                    ),
                ],
            },
        ),
    ]
