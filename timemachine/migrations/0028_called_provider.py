"""Steps that were planned before a step said whose model it calls: those that may still run say it now.

Without it they would count as calling nobody, be taken eight at a time, and pass the limit of calls side by side. What is
done is left as it is: nothing asks any more whom it called.
"""

from django.db import migrations

NAMED = """
WITH planned AS (
    SELECT step.id, lower(split_part(CASE replay.kind
        WHEN 'audit' THEN coalesce(replay.options ->> 'use_model', 'local')
        ELSE coalesce(replay.options ->> 'use_model', action.model, 'local') END, ':', 1)) AS written
    FROM tm_replay_step AS step
    JOIN tm_replay AS replay ON replay.id = step.replay_id
    JOIN tm_action AS action ON action.id = step.action_id
    WHERE step.kind = 'ask' AND step.provider IS NULL AND step.status NOT IN ('done', 'skipped')
)
UPDATE tm_replay_step SET provider = CASE written WHEN 'claude' THEN 'anthropic' ELSE written END
FROM planned WHERE planned.id = tm_replay_step.id AND written NOT IN ('local', '')
"""


class Migration(migrations.Migration):
    dependencies = [
        ("timemachine", "0027_suite"),
    ]

    operations = [migrations.RunSQL(NAMED, migrations.RunSQL.noop)]
