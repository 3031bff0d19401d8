"""Deleted turns are named anew: when each was deleted, and nobody's name, which the first of them had.

Nothing of what was recorded changes, so turns under a legal hold are named as well. A worker finds their words and counts their tokens again.
"""

from django.db import migrations

NAMED = """
ALTER TABLE tm_action DISABLE TRIGGER not_held;
SET LOCAL timemachine.erasing = 'fields';
UPDATE tm_action AS a
SET label = '[deleted: turn] ' || to_char(e.erased_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC'
FROM tm_erased_turn AS e WHERE e.session_id = a.session_id AND e.sequence = a.sequence;
SET LOCAL timemachine.erasing = 'off';
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE tm_action ENABLE TRIGGER not_held;
"""
FIRST = "(SELECT session_id, min(sequence) AS first FROM tm_erased_turn GROUP BY session_id) AS e"
FOUND_ANEW = [
    *(
        f"DELETE FROM {table} AS w USING {FIRST} WHERE e.session_id = w.session_id AND w.sequence >= e.first"
        for table in ("tm_searched_action", "tm_action_meaning")
    ),
    f"UPDATE tm_indexed_session AS i SET indexed_through = least(i.indexed_through, e.first - 1) FROM {FIRST} WHERE e.session_id = i.session_id",
]


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0070_summaries_that_stay")]
    operations = [migrations.RunSQL([NAMED, *FOUND_ANEW], migrations.RunSQL.noop)]
