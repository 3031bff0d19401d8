"""Counts that triggers keep in the transaction that appends, and those of what was recorded before.

SHA-256 and not MD5 makes the keys: where only approved algorithms run, Postgres refuses MD5.
"""

import django.db.models.deletion
import timemachine.payloads.fields
from django.db import migrations, models

ALWAYS = (
    "number",
    "errors",
    "timed",
    "duration_ms",
    "cost_usd",
    "unknown_cost_calls",
    "cached_calls",
    "saved_usd",
    "unknown_saved_calls",
)
IF_RECORDED = ("input_tokens", "output_tokens")
COLUMNS = ", ".join(ALWAYS + IF_RECORDED)
COUNTED = """
    count(*),
    count(*) FILTER (WHERE a.error_type IS NOT NULL OR a.error_message IS NOT NULL),
    count(a.duration_ms),
    coalesce(sum(a.duration_ms), 0),
    coalesce(sum(a.cost_usd), 0),
    count(*) FILTER (WHERE a.cost_usd IS NULL AND (
        a.model IS NOT NULL OR (a.kind IN ('ask', 'llm_call') AND (a.input_tokens > 0 OR a.output_tokens > 0))
    )),
    count(*) FILTER (WHERE a.cached),
    coalesce(sum(a.saved_usd) FILTER (WHERE a.cached), 0),
    count(*) FILTER (WHERE a.cached AND a.saved_usd IS NULL),
    sum(a.input_tokens),
    sum(a.output_tokens)"""


def added(table: str) -> str:
    """What a row says after more actions were counted."""
    return ", ".join(
        [f"{name} = {table}.{name} + excluded.{name}" for name in ALWAYS]
        + [f"{name} = coalesce({table}.{name} + excluded.{name}, {table}.{name}, excluded.{name})" for name in IF_RECORDED]
    )


BINS = f"""
INSERT INTO tm_bin (session_id, bin, kind, {COLUMNS}, folded, first, last)
SELECT a.session_id, (a.sequence - 1) / 100, a.kind, {COUNTED},
    count(*) FILTER (WHERE a.folded),
    min(a.started_at),
    max(a.started_at + coalesce(a.duration_ms, 0) * interval '1 millisecond')
FROM (
    SELECT one.*, EXISTS (
        SELECT FROM tm_action AS above
        WHERE above.session_id = one.session_id AND above.kind IN ('ask', 'find', 'put')
        AND above.sequence BETWEEN one.sequence - 64 AND one.sequence - 1
        AND (above.sequence = one.parent_sequence OR above.client_id = one.parent_id_given)
    ) AS folded
    FROM {{actions}} AS one
) AS a
GROUP BY 1, 2, 3
ON CONFLICT (session_id, bin, kind) DO UPDATE SET {added("tm_bin")},
    folded = tm_bin.folded + excluded.folded,
    first = least(tm_bin.first, excluded.first),
    last = greatest(tm_bin.last, excluded.last);
"""
WITH_DAY = """(
    SELECT a.*, coalesce(a.agent, s.agent) AS whose, (coalesce(a.started_at, a.recorded_at) AT TIME ZONE 'UTC')::date AS day
    FROM {actions} AS a JOIN tm_session AS s ON s.id = a.session_id
)"""
KEY = "tm_short_key(jsonb_build_array(a.day, a.kind, a.whose, a.model, a.tool))"
USAGES = f"""
INSERT INTO tm_usage (session_id, key, project_id, day, kind, agent, model, tool, {COLUMNS})
SELECT a.session_id, {KEY}, a.project_id, a.day, a.kind, a.whose, a.model, a.tool, {COUNTED}
FROM {WITH_DAY} AS a
GROUP BY a.session_id, a.project_id, a.day, a.kind, a.whose, a.model, a.tool
ON CONFLICT (session_id, key) DO UPDATE SET {added("tm_usage")};
"""
LATENCIES = f"""
INSERT INTO tm_latency (session_id, key, bucket, number)
SELECT a.session_id, {KEY}, a.bucket, count(*)
FROM (
    SELECT timed.*, floor(ln(greatest(timed.duration_ms, 0.001)) / ln(1.05))::smallint AS bucket
    FROM {WITH_DAY} AS timed WHERE timed.duration_ms IS NOT NULL
) AS a
GROUP BY a.session_id, a.day, a.kind, a.whose, a.model, a.tool, a.bucket
ON CONFLICT (session_id, key, bucket) DO UPDATE SET number = tm_latency.number + excluded.number;
"""
FIRST_USES = """
INSERT INTO tm_first_use (session_id, key, sequence, rank, frame, version, title)
SELECT DISTINCT ON (a.session_id, used.key) a.session_id, used.key, a.sequence, h.rank, h.frame, h.version, h.title
FROM {hits} AS h
JOIN tm_action AS a ON a.id = h.action_id
CROSS JOIN LATERAL (SELECT tm_short_key(jsonb_build_array(h.frame, h.version)) AS key) AS used
WHERE h.frame IS NOT NULL
ORDER BY a.session_id, used.key, a.sequence, h.rank
ON CONFLICT (session_id, key) DO NOTHING;
"""
KEPT = f"""
CREATE FUNCTION tm_short_key(what jsonb) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT encode(substring(sha256(convert_to(what::text, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid
$$;

CREATE FUNCTION tm_count_actions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {(BINS + USAGES + LATENCIES).format(actions="fresh")}
    RETURN NULL;
END $$;

CREATE FUNCTION tm_count_hits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {FIRST_USES.format(hits="fresh")}
    RETURN NULL;
END $$;

CREATE TRIGGER counted AFTER INSERT ON tm_action
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION tm_count_actions();
CREATE TRIGGER counted AFTER INSERT ON tm_hit
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION tm_count_hits();
"""
BEFORE = (BINS + USAGES + LATENCIES).format(actions="tm_action") + FIRST_USES.format(hits="tm_hit")
NOT_KEPT = """
DROP TRIGGER counted ON tm_action;
DROP TRIGGER counted ON tm_hit;
DROP FUNCTION tm_count_actions();
DROP FUNCTION tm_count_hits();
DROP FUNCTION tm_short_key(jsonb);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0041_frame_deleted_by'),
    ]

    operations = [
        migrations.CreateModel(
            name='Bin',
            fields=[
                ('number', models.BigIntegerField()),
                ('errors', models.BigIntegerField()),
                ('timed', models.BigIntegerField()),
                ('duration_ms', models.FloatField()),
                ('input_tokens', models.BigIntegerField(null=True)),
                ('output_tokens', models.BigIntegerField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30)),
                ('unknown_cost_calls', models.BigIntegerField()),
                ('cached_calls', models.BigIntegerField()),
                ('saved_usd', models.DecimalField(decimal_places=15, max_digits=30)),
                ('unknown_saved_calls', models.BigIntegerField()),
                ('pk', models.CompositePrimaryKey('session_id', 'bin', 'kind', blank=True, editable=False, primary_key=True, serialize=False)),
                ('bin', models.IntegerField()),
                ('kind', models.CharField(max_length=12)),
                ('folded', models.BigIntegerField()),
                ('first', models.DateTimeField(null=True)),
                ('last', models.DateTimeField(null=True)),
                ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_bin',
            },
        ),
        migrations.CreateModel(
            name='Latency',
            fields=[
                ('pk', models.CompositePrimaryKey('session_id', 'key', 'bucket', blank=True, editable=False, primary_key=True, serialize=False)),
                ('key', models.UUIDField()),
                ('bucket', models.SmallIntegerField()),
                ('number', models.BigIntegerField()),
                ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_latency',
            },
        ),
        migrations.CreateModel(
            name='FirstUse',
            fields=[
                ('pk', models.CompositePrimaryKey('session_id', 'key', blank=True, editable=False, primary_key=True, serialize=False)),
                ('key', models.UUIDField()),
                ('sequence', models.BigIntegerField()),
                ('rank', models.IntegerField()),
                ('frame', timemachine.payloads.fields.FaithfulJSONField()),
                ('version', models.IntegerField(null=True)),
                ('title', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_first_use',
                'indexes': [models.Index(fields=['session', 'sequence', 'rank'], name='first_use_in_order')],
            },
        ),
        migrations.CreateModel(
            name='Usage',
            fields=[
                ('number', models.BigIntegerField()),
                ('errors', models.BigIntegerField()),
                ('timed', models.BigIntegerField()),
                ('duration_ms', models.FloatField()),
                ('input_tokens', models.BigIntegerField(null=True)),
                ('output_tokens', models.BigIntegerField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30)),
                ('unknown_cost_calls', models.BigIntegerField()),
                ('cached_calls', models.BigIntegerField()),
                ('saved_usd', models.DecimalField(decimal_places=15, max_digits=30)),
                ('unknown_saved_calls', models.BigIntegerField()),
                ('pk', models.CompositePrimaryKey('session_id', 'key', blank=True, editable=False, primary_key=True, serialize=False)),
                ('key', models.UUIDField()),
                ('day', models.DateField()),
                ('kind', models.CharField(max_length=12)),
                ('agent', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('model', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('tool', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_usage',
                'indexes': [models.Index(fields=['project', 'day'], name='usage_of_day')],
            },
        ),
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                fields=["session", "sequence"],
                condition=models.Q(("error_type__isnull", False), ("error_message__isnull", False), _connector="OR"),
                name="action_failed",
            ),
        ),
        migrations.RunSQL(KEPT, NOT_KEPT),
        migrations.RunSQL(BEFORE, migrations.RunSQL.noop),
    ]
