"""A grid of retrieval settings over a session is kept, with a row for each setting."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("timemachine", "0024_long_diff"),
    ]

    operations = [
        migrations.CreateModel(
            name="Sweep",
            fields=[
                (
                    "id",
                    models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False),
                ),
                ("status", models.CharField(default="queued", max_length=10)),
                ("grid", timemachine.payloads.fields.FaithfulJSONField(default=dict)),
                ("steps", timemachine.payloads.fields.FaithfulJSONField(default=list)),
                ("tokenizer", models.CharField(max_length=200)),
                ("requested_by", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(null=True)),
                ("cancel_requested_at", models.DateTimeField(null=True)),
                ("rung_at", models.DateTimeField(null=True)),
                ("revision", models.BigIntegerField(default=0)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="timemachine.project",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="sweeps",
                        to="timemachine.session",
                    ),
                ),
            ],
            options={
                "db_table": "tm_sweep",
            },
        ),
        migrations.CreateModel(
            name="SweepRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.IntegerField()),
                ("setting", timemachine.payloads.fields.FaithfulJSONField()),
                ("status", models.CharField(default="waiting", max_length=10)),
                ("attempts_made", models.IntegerField(default=0)),
                ("lease_token", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("result", timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ("error_message", models.TextField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "sweep",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="rows",
                        to="timemachine.sweep",
                    ),
                ),
            ],
            options={
                "db_table": "tm_sweep_row",
            },
        ),
        migrations.AddIndex(
            model_name="sweep",
            index=models.Index(fields=["session", "-created_at"], name="sweep_of_session"),
        ),
        migrations.AddIndex(
            model_name="sweep",
            index=models.Index(
                condition=models.Q(("status__in", ("queued", "running"))),
                fields=["created_at"],
                name="sweep_unfinished",
            ),
        ),
        migrations.AddConstraint(
            model_name="sweep",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("queued", "running", "done", "failed", "cancelled"))),
                name="sweep_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="sweeprow",
            constraint=models.UniqueConstraint(fields=("sweep", "number"), name="sweep_row_once"),
        ),
        migrations.AddConstraint(
            model_name="sweeprow",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("waiting", "running", "done", "failed", "cancelled"))),
                name="sweep_row_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="sweeprow",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "running"), _negated=True),
                    models.Q(("lease_token__isnull", False), ("lease_until__isnull", False)),
                    _connector="OR",
                ),
                name="sweep_row_running_is_leased",
            ),
        ),
    ]
