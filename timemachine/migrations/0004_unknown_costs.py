"""Count the cost of every model call that has none as unknown, also if it recorded neither a model nor tokens."""

from pathlib import Path

from django.db import migrations, models
from django.db.models import Q

SQL = Path(__file__).resolve().parent.parent / "sql"
DROP = """
DROP TRIGGER count_actions ON tm_action;
DROP TRIGGER count_hits ON tm_hit;
DROP FUNCTION IF EXISTS tm_is_unknown_cost(text, text, numeric, bigint, bigint, jsonb);
DROP FUNCTION tm_recount_session(uuid), tm_count_hits(), tm_count_actions(), tm_count_usage(tm_counted[]);
DROP TYPE tm_counted;
DROP FUNCTION tm_is_correction(bigint, bigint, numeric), tm_short_key(jsonb);
"""
RECOUNT = """
UPDATE tm_session AS s SET unknown_cost_calls = found.unknown
FROM (
    SELECT session_id, count(*) AS unknown FROM tm_action
    WHERE copied_from IS NULL AND tm_is_unknown_cost(kind, model, cost_usd, input_tokens, output_tokens, prices) GROUP BY session_id
) AS found
WHERE s.id = found.session_id AND s.unknown_cost_calls <> found.unknown;

UPDATE tm_bin AS b SET unknown_cost_calls = found.unknown
FROM (
    SELECT session_id, (sequence - 1) / 100 AS bin, kind, count(*) AS unknown FROM tm_action
    WHERE copied_from IS NULL AND tm_is_unknown_cost(kind, model, cost_usd, input_tokens, output_tokens, prices) GROUP BY 1, 2, 3
) AS found
WHERE b.session_id = found.session_id AND b.bin = found.bin AND b.kind = found.kind AND b.unknown_cost_calls <> found.unknown;

SELECT tm_recount_session(id) FROM tm_session WHERE unknown_cost_calls > 0;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("timemachine", "0003_continuations"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="action", name="action_unpriced"),
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                fields=["session", "sequence"],
                condition=Q(cost_usd=None)
                & (
                    Q(model__isnull=False)
                    | Q(kind="llm_call")
                    | Q(input_tokens__gt=0)
                    | Q(output_tokens__gt=0)
                ),
                name="action_unpriced",
            ),
        ),
        migrations.RunSQL(DROP),
        migrations.RunSQL((SQL / "usage.sql").read_text(encoding="utf-8")),
        migrations.RunSQL(RECOUNT),
    ]
