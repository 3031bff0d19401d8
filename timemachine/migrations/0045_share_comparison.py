"""Links to comparisons, and links that show the evidence alone; what a link shows is fixed by a trigger."""

import django.db.models.deletion
from django.db import migrations, models

FIXED = """
CREATE FUNCTION tm_share_scope_is_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a share link shows is fixed when it is made'
        USING ERRCODE = 'restrict_violation', HINT = 'Revoke it and make another.';
END $$;
CREATE TRIGGER scope_is_fixed BEFORE UPDATE ON tm_share_link FOR EACH ROW WHEN (
    (OLD.id, OLD.public_id, OLD.secret_sha256, OLD.project_id, OLD.session_id, OLD.replay_id, OLD.comparison_id,
     OLD.target_type, OLD.through_sequence, OLD.evidence_only, OLD.created_at)
    IS DISTINCT FROM
    (NEW.id, NEW.public_id, NEW.secret_sha256, NEW.project_id, NEW.session_id, NEW.replay_id, NEW.comparison_id,
     NEW.target_type, NEW.through_sequence, NEW.evidence_only, NEW.created_at)
) EXECUTE FUNCTION tm_share_scope_is_fixed();
"""

NOT_FIXED = """
DROP TRIGGER scope_is_fixed ON tm_share_link;
DROP FUNCTION tm_share_scope_is_fixed();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0044_note'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='sharelink',
            name='share_link_target',
        ),
        migrations.AddField(
            model_name='sharelink',
            name='comparison',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='share_links', to='timemachine.comparison'),
        ),
        migrations.AddField(
            model_name='sharelink',
            name='evidence_only',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name='sharelink',
            name='session',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='share_links', to='timemachine.session'),
        ),
        migrations.AlterField(
            model_name='sharelink',
            name='through_sequence',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddConstraint(
            model_name='sharelink',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('comparison', None), ('replay', None), ('target_type', 'session'), ('session__isnull', False), ('through_sequence__isnull', False)), models.Q(('comparison', None), ('replay__isnull', False), ('target_type', 'replay'), ('session__isnull', False), ('through_sequence__isnull', False)), models.Q(('comparison__isnull', False), ('target_type', 'comparison'), ('replay', None), ('session', None), ('through_sequence', None)), _connector='OR'), name='share_link_target'),
        ),
        migrations.RunSQL(FIXED, NOT_FIXED),
    ]
