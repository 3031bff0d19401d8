"""Redaction profiles: each version a row that never changes, except that it is retired once."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import timemachine.base.ids

PROMISE = """
CREATE FUNCTION tm_profile_may_only_retire() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    may_differ text[] := ARRAY['retired_at', 'retired_by'];
BEGIN
    IF OLD.retired_at IS NULL AND (to_jsonb(NEW) - may_differ) = (to_jsonb(OLD) - may_differ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a version of a redaction profile never changes: it may only be retired, once'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER may_only_retire BEFORE UPDATE ON tm_redaction_profile
    FOR EACH ROW EXECUTE FUNCTION tm_profile_may_only_retire();
"""

NO_PROMISE = """
DROP TRIGGER may_only_retire ON tm_redaction_profile;
DROP FUNCTION tm_profile_may_only_retire();
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0045_share_comparison")]

    operations = [
        migrations.CreateModel(
            name="RedactionProfile",
            fields=[
                (
                    "id",
                    models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(max_length=100)),
                ("version", models.IntegerField()),
                ("rules", models.JSONField()),
                ("created_by", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("retired_at", models.DateTimeField(null=True)),
                ("retired_by", models.CharField(max_length=254, null=True)),
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
                "db_table": "tm_redaction_profile",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "name", "version"), name="redaction_profile_version_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("version__gte", 1)), name="redaction_profile_counted_from_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("retired_at", None), ("retired_by", None)),
                            models.Q(("retired_at__isnull", False), ("retired_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="redaction_profile_retired_by_somebody",
                    ),
                ],
            },
        ),
        migrations.RunSQL(PROMISE, NO_PROMISE),
    ]
