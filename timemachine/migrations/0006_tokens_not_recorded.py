"""A session whose actions recorded no tokens has none recorded, instead of 0; and calls without a model are counted as unknown.

Every session is counted again from its actions, in one pass.
"""

from django.db import migrations, models

COUNTED_AGAIN = """
UPDATE tm_session AS session
SET input_tokens = counted.input_tokens,
    output_tokens = counted.output_tokens,
    unknown_cost_calls = counted.unknown
FROM (
    SELECT session.id,
           sum(action.input_tokens) AS input_tokens,
           sum(action.output_tokens) AS output_tokens,
           count(*) FILTER (
               WHERE action.id IS NOT NULL AND action.cost_usd IS NULL
               AND (action.model IS NOT NULL
                    OR (action.kind IN ('ask', 'llm_call') AND (action.input_tokens > 0 OR action.output_tokens > 0)))
           ) AS unknown
    FROM tm_session AS session LEFT JOIN tm_action AS action ON action.session_id = session.id
    GROUP BY session.id
) AS counted
WHERE counted.id = session.id
"""
NOTHING_AS_ZERO = """
UPDATE tm_session SET input_tokens = coalesce(input_tokens, 0), output_tokens = coalesce(output_tokens, 0)
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0005_answer_cache")]
    operations = [
        migrations.AlterField("session", "input_tokens", models.BigIntegerField(null=True)),
        migrations.AlterField("session", "output_tokens", models.BigIntegerField(null=True)),
        migrations.RunSQL(COUNTED_AGAIN, NOTHING_AS_ZERO),
    ]
