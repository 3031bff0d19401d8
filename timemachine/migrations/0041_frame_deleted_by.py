"""A frame that is deleted keeps who deleted it; of those before, that was not recorded."""

from django.db import migrations, models
from django.db.models import Q

MAY_ONLY_END = """
CREATE OR REPLACE FUNCTION tm_frame_may_only_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- generated columns are not computed yet in a BEFORE trigger; what they are made from is compared
    may_differ text[] := ARRAY[{columns}];
BEGIN
    IF OLD.valid_until IS NULL AND NEW.valid_until IS NOT NULL
       AND (to_jsonb(NEW) - may_differ) = (to_jsonb(OLD) - may_differ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a frame never changes: only its end may be set, once'
        USING ERRCODE = 'restrict_violation';
END $$;
"""
BEFORE = MAY_ONLY_END.format(columns="'valid_until', 'ended_by', 'terms', 'weights'")
SINCE = MAY_ONLY_END.format(columns="'valid_until', 'ended_by', 'deleted_by', 'terms', 'weights'")


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0040_opinion_unknown_cost")]

    operations = [
        migrations.AddField(
            model_name="frame",
            name="deleted_by",
            field=models.CharField(max_length=254, null=True),
        ),
        migrations.RunSQL(SINCE, BEFORE),
        migrations.AddConstraint(
            model_name="frame",
            constraint=models.CheckConstraint(
                condition=Q(deleted_by=None) | Q(ended_by="delete"), name="frame_deleted_by_whom"
            ),
        ),
    ]
