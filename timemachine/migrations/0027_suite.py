"""Replay suites: what they replay and when, their runs with the replays of each, and who changed them."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("timemachine", "0026_comparison_findings"),
    ]

    operations = [
        migrations.CreateModel(
            name="Suite",
            fields=[
                (
                    "id",
                    models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(max_length=200)),
                ("options", timemachine.payloads.fields.FaithfulJSONField(default=dict)),
                ("use_models", timemachine.payloads.fields.FaithfulJSONField(default=list)),
                ("fail_on", timemachine.payloads.fields.FaithfulJSONField(default=list)),
                ("schedule", models.CharField(max_length=100, null=True)),
                ("schedule_since", models.DateTimeField(null=True)),
                ("next_run_at", models.DateTimeField(null=True)),
                ("created_by", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="timemachine.project",
                    ),
                ),
            ],
            options={
                "db_table": "tm_suite",
            },
        ),
        migrations.CreateModel(
            name="SuiteEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("what", models.CharField(max_length=10)),
                ("facts", timemachine.payloads.fields.FaithfulJSONField(default=dict)),
                ("by", models.CharField(max_length=254)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="timemachine.project",
                    ),
                ),
                (
                    "suite",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DB_SET_NULL,
                        related_name="events",
                        to="timemachine.suite",
                    ),
                ),
            ],
            options={
                "db_table": "tm_suite_event",
            },
        ),
        migrations.CreateModel(
            name="SuiteRun",
            fields=[
                (
                    "id",
                    models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False),
                ),
                ("number", models.IntegerField()),
                ("status", models.CharField(default="running", max_length=10)),
                ("options", timemachine.payloads.fields.FaithfulJSONField(default=dict)),
                ("use_models", timemachine.payloads.fields.FaithfulJSONField(default=list)),
                ("fail_on", timemachine.payloads.fields.FaithfulJSONField(default=list)),
                ("due_at", models.DateTimeField(null=True)),
                ("requested_by", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(null=True)),
                ("findings", timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ("held", timemachine.payloads.fields.FaithfulJSONField(null=True)),
                (
                    "previous",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DB_SET_NULL,
                        related_name="+",
                        to="timemachine.suiterun",
                    ),
                ),
                (
                    "suite",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="runs",
                        to="timemachine.suite",
                    ),
                ),
            ],
            options={
                "db_table": "tm_suite_run",
            },
        ),
        migrations.CreateModel(
            name="SuiteReplay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.IntegerField()),
                ("arm", models.IntegerField()),
                ("key", models.CharField(max_length=200)),
                ("problem_code", models.CharField(max_length=60, null=True)),
                ("problem", timemachine.payloads.fields.FaithfulTextField(null=True)),
                (
                    "replay",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.DB_SET_NULL,
                        related_name="suite_replay",
                        to="timemachine.replay",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DB_SET_NULL,
                        related_name="+",
                        to="timemachine.session",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="members",
                        to="timemachine.suiterun",
                    ),
                ),
            ],
            options={
                "db_table": "tm_suite_replay",
            },
        ),
        migrations.CreateModel(
            name="SuiteSession",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.IntegerField()),
                ("key", models.CharField(max_length=200)),
                (
                    "session",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DB_SET_NULL,
                        related_name="+",
                        to="timemachine.session",
                    ),
                ),
                (
                    "suite",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="sessions",
                        to="timemachine.suite",
                    ),
                ),
            ],
            options={
                "db_table": "tm_suite_session",
            },
        ),
        migrations.AddIndex(
            model_name="suite",
            index=models.Index(
                condition=models.Q(("next_run_at__isnull", False)), fields=["next_run_at"], name="suite_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="suite",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="suite_name_once"),
        ),
        migrations.AddConstraint(
            model_name="suite",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("next_run_at", None), ("schedule", None), ("schedule_since", None)),
                    models.Q(
                        ("next_run_at__isnull", False),
                        ("schedule__isnull", False),
                        ("schedule_since__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="suite_schedule_is_due_some_time",
            ),
        ),
        migrations.AddIndex(
            model_name="suiteevent",
            index=models.Index(fields=["suite", "-id"], name="suite_event_newest"),
        ),
        migrations.AddIndex(
            model_name="suiteevent",
            index=models.Index(fields=["project", "-id"], name="suite_event_of_project"),
        ),
        migrations.AddConstraint(
            model_name="suiteevent",
            constraint=models.CheckConstraint(
                condition=models.Q(("what__in", ("created", "edited", "deleted", "skipped"))),
                name="suite_event_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="suiterun",
            constraint=models.UniqueConstraint(fields=("suite", "number"), name="suite_run_number_once"),
        ),
        migrations.AddConstraint(
            model_name="suiterun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("finished_at", None)), fields=("suite",), name="suite_runs_do_not_overlap"
            ),
        ),
        migrations.AddConstraint(
            model_name="suiterun",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("running", "done", "failed", "cancelled"))),
                name="suite_run_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="suiterun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at", None), ("status", "running")),
                    models.Q(models.Q(("status", "running"), _negated=True), ("finished_at__isnull", False)),
                    _connector="OR",
                ),
                name="suite_run_over_is_finished",
            ),
        ),
        migrations.AddConstraint(
            model_name="suitereplay",
            constraint=models.UniqueConstraint(fields=("run", "position", "arm"), name="suite_replay_once"),
        ),
        migrations.AddConstraint(
            model_name="suitereplay",
            constraint=models.CheckConstraint(
                condition=models.Q(("arm__gte", 1)), name="suite_replay_arm_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="suitesession",
            constraint=models.UniqueConstraint(
                fields=("suite", "position"), name="suite_session_position_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="suitesession",
            constraint=models.UniqueConstraint(fields=("suite", "session"), name="suite_session_once"),
        ),
    ]
