"""When a step was, for questions about a span of time.

A BRIN index, which an append hardly notices: steps come in about the order of their times. It is not in the state of the models, for
Django has no such index over an expression. It brings the statistics of 0068 along.
"""

from django.db import migrations


INDEX = """
CREATE INDEX tm_action_when ON tm_action USING brin ((coalesce(started_at, recorded_at)) timestamptz_minmax_multi_ops)
WITH (autosummarize = on);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0068_action_sketch'),
    ]

    operations = [
        migrations.RunSQL(INDEX, reverse_sql="DROP INDEX tm_action_when;"),
    ]
