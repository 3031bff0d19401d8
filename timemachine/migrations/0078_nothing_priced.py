"""Dollars of a session and of its counts are null where nothing was priced, and 0 where it was, as nothing."""

import re
from importlib import import_module

from django.db import migrations, models

counting = import_module("timemachine.migrations.as_of_0074.sql.counting")

DOLLARS = ("cost_usd", "saved_usd")
OF_ACTIONS = {
    "coalesce(sum(a.cost_usd), 0)": "sum(a.cost_usd)",
    "coalesce(sum(a.saved_usd) FILTER (WHERE a.cached), 0)": "sum(a.saved_usd) FILTER (WHERE a.cached)",
}
ADDED = {
    f"{name} = {table}.{name} + excluded.{name}": f"{name} = coalesce({table}.{name} + excluded.{name}, {table}.{name}, excluded.{name})"
    for name in DOLLARS
    for table in ("tm_bin", "tm_usage")
}
FUNCTIONS = ("tm_count_actions", "tm_count_session_anew")

AS_BEFORE = "\n".join(
    "CREATE OR REPLACE" + re.search(rf"CREATE( FUNCTION {name}\(.*?END \$\$;)", counting.COUNTS, re.DOTALL)[1] for name in FUNCTIONS
)
NULL_WHERE_NOTHING_IS = AS_BEFORE
for zero, null in (OF_ACTIONS | ADDED).items():
    NULL_WHERE_NOTHING_IS = NULL_WHERE_NOTHING_IS.replace(zero, null)

PRICED = counting.WITH_DAY.format(actions="tm_action")
NOTHING_PRICED = f"""
UPDATE tm_session AS s SET cost_usd = NULL WHERE cost_usd = 0
AND NOT EXISTS (SELECT FROM tm_action AS a WHERE a.session_id = s.id AND a.cost_usd IS NOT NULL);
UPDATE tm_bin AS b SET cost_usd = NULL WHERE cost_usd = 0 AND NOT EXISTS (
    SELECT FROM tm_action AS a
    WHERE a.session_id = b.session_id AND (a.sequence - 1) / 100 = b.bin AND a.kind = b.kind AND a.cost_usd IS NOT NULL
);
UPDATE tm_usage AS u SET cost_usd = NULL WHERE cost_usd = 0 AND NOT EXISTS (
    SELECT FROM {PRICED} AS a WHERE a.session_id = u.session_id AND {counting.KEY} = u.key AND a.cost_usd IS NOT NULL
);
UPDATE tm_session SET saved_usd = NULL WHERE cached_calls = unknown_saved_calls;
UPDATE tm_bin SET saved_usd = NULL WHERE cached_calls = unknown_saved_calls;
UPDATE tm_usage SET saved_usd = NULL WHERE cached_calls = unknown_saved_calls;
"""
ZERO = "\n".join(
    f"UPDATE {table} SET {name} = 0 WHERE {name} IS NULL;" for table in ("tm_session", "tm_bin", "tm_usage") for name in DOLLARS
) + "\nSET CONSTRAINTS ALL IMMEDIATE;  -- a table with checks that wait cannot be altered"


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0077_files_in_parts")]
    operations = [
        *(
            migrations.AlterField(
                model_name=model, name=name, field=models.DecimalField(decimal_places=15, max_digits=30, null=True)
            )
            for model in ("session", "bin", "usage")
            for name in DOLLARS
        ),
        migrations.RunSQL(NULL_WHERE_NOTHING_IS, AS_BEFORE),
        migrations.RunSQL(NOTHING_PRICED, ZERO),
    ]
