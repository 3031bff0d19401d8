"""A link can withhold by a redaction profile, which is fixed like all that it shows."""

from django.db import migrations, models

TRIGGER = """
DROP TRIGGER scope_is_fixed ON tm_share_link;
CREATE TRIGGER scope_is_fixed BEFORE UPDATE ON tm_share_link FOR EACH ROW WHEN (
    (OLD.id, OLD.public_id, OLD.secret_sha256, OLD.project_id, OLD.session_id, OLD.replay_id, OLD.comparison_id,
     OLD.target_type, OLD.through_sequence, OLD.evidence_only, OLD.created_at%(old)s)
    IS DISTINCT FROM
    (NEW.id, NEW.public_id, NEW.secret_sha256, NEW.project_id, NEW.session_id, NEW.replay_id, NEW.comparison_id,
     NEW.target_type, NEW.through_sequence, NEW.evidence_only, NEW.created_at%(new)s)
) EXECUTE FUNCTION tm_share_scope_is_fixed();
"""
WITH_REDACTION = TRIGGER % {"old": ", OLD.redaction", "new": ", NEW.redaction"}
WITHOUT = TRIGGER % {"old": "", "new": ""}


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0048_evidence")]

    operations = [
        migrations.AddField(
            model_name="sharelink", name="redaction", field=models.JSONField(null=True)
        ),
        migrations.RunSQL(WITH_REDACTION, WITHOUT),
    ]
