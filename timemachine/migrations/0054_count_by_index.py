"""Counting planned for each statement, and an action's parent looked up by its number or its id.

A function keeps the plan of its first call: a connection that appended to an empty table went on reading the whole session for
every action, some 300 ms for 512 actions at 4,000. The plan of one statement costs 0.3 ms.
"""

from importlib import import_module

from django.db import migrations

counts = import_module("timemachine.migrations.0042_rollup")

_ABOVE = """EXISTS (
            SELECT FROM tm_action AS above
            WHERE above.session_id = one.session_id AND {found}
            AND above.sequence BETWEEN one.sequence - 64 AND one.sequence - 1 AND above.kind IN ('ask', 'find', 'put')
        )"""
_FOLDED = "{} OR {}".format(
    _ABOVE.format(found="above.sequence = one.parent_sequence"),
    _ABOVE.format(found="above.client_id = one.parent_id_given"),
)
_begin, _end = counts.BINS.index("EXISTS ("), counts.BINS.index("AS folded")
BINS = f"{counts.BINS[:_begin]}({_FOLDED}) {counts.BINS[_end:]}"

PLANNED_EACH_TIME = f"""
CREATE OR REPLACE FUNCTION tm_count_actions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE $bins${BINS.format(actions="fresh")}$bins$;
    {(counts.USAGES + counts.LATENCIES).format(actions="fresh")}
    RETURN NULL;
END $$;
"""
AS_BEFORE = f"""
CREATE OR REPLACE FUNCTION tm_count_actions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {(counts.BINS + counts.USAGES + counts.LATENCIES).format(actions="fresh")}
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("timemachine", "0053_access_heads"),
    ]

    operations = [migrations.RunSQL(PLANNED_EACH_TIME, AS_BEFORE)]
