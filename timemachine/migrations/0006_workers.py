"""Which workers run, and how much work waits, for metrics and health checks."""

from django.db import migrations, models

from timemachine.core.pure.ids import uuid7


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0005_second_factor")]
    operations = [
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("id", models.UUIDField(default=uuid7, primary_key=True, serialize=False)),
                ("host", models.TextField()),
                ("process", models.BigIntegerField()),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
            ],
            options={"db_table": "tm_worker"},
        ),
        migrations.CreateModel(
            name="JobBacklog",
            fields=[
                ("job", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("waiting", models.BigIntegerField()),
                ("held", models.BigIntegerField(null=True)),
                ("expired", models.BigIntegerField(null=True)),
                ("oldest_since", models.DateTimeField(null=True)),
                ("measured_at", models.DateTimeField()),
            ],
            options={"db_table": "tm_job_backlog"},
        ),
    ]
