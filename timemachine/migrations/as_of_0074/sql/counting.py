"""What is counted of a session, by triggers in the transaction that appends, and anew where something of it is erased.

SHA-256 and not MD5 makes the keys: where only approved algorithms run, Postgres refuses MD5. The bins are planned for each statement:
a function keeps the plan of its first call, and a connection that appended to an empty table went on reading the whole session
for every action, some 300 ms for 512 actions at 4,000. The plan of one statement costs 0.3 ms.
"""

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


# an action's parent is looked up by its number, or by its id
ABOVE = """EXISTS (
            SELECT FROM tm_action AS above
            WHERE above.session_id = one.session_id AND {found}
            AND above.sequence BETWEEN one.sequence - 64 AND one.sequence - 1 AND above.kind IN ('ask', 'find', 'put')
        )"""
FOLDED = "{} OR {}".format(
    ABOVE.format(found="above.sequence = one.parent_sequence"),
    ABOVE.format(found="above.client_id = one.parent_id_given"),
)
BINS = f"""
INSERT INTO tm_bin (session_id, bin, kind, {COLUMNS}, folded, first, last)
SELECT a.session_id, (a.sequence - 1) / 100, a.kind, {COUNTED},
    count(*) FILTER (WHERE a.folded),
    min(a.started_at),
    max(a.started_at + coalesce(a.duration_ms, 0) * interval '1 millisecond')
FROM (
    SELECT one.*, ({FOLDED}) AS folded
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
ONE_ACTION = "(SELECT * FROM tm_action WHERE session_id = wanted)"
ONE_HIT = "(SELECT h.* FROM tm_hit AS h JOIN tm_action AS of ON of.id = h.action_id WHERE of.session_id = wanted)"

COUNTS = f"""
CREATE FUNCTION tm_short_key(what jsonb) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT encode(substring(sha256(convert_to(what::text, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid
$$;

CREATE FUNCTION tm_count_actions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE $bins${BINS.format(actions="fresh")}$bins$;
    {(USAGES + LATENCIES).format(actions="fresh")}
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

CREATE FUNCTION tm_count_session_anew(wanted uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_usage WHERE session_id = wanted;
    DELETE FROM tm_latency WHERE session_id = wanted;
    DELETE FROM tm_first_use WHERE session_id = wanted;
    {(USAGES + LATENCIES).format(actions=ONE_ACTION) + FIRST_USES.format(hits=ONE_HIT)}
END $$;

CREATE FUNCTION tm_importance(
    said double precision, said_significance text, recorded double precision, recorded_significance text, compressed boolean
) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT CASE
    WHEN said IS NOT NULL THEN said
    WHEN compressed
        AND coalesce(coalesce(said_significance, recorded_significance) NOT IN ('decision', 'solution', 'breakthrough'), true)
        THEN least(0.30, CASE WHEN said_significance IS NULL THEN recorded END)
    ELSE coalesce(
        CASE said_significance WHEN 'normal' THEN 0.72 WHEN 'hypothesis' THEN 0.75 WHEN 'error' THEN 0.80
            WHEN 'decision' THEN 0.92 WHEN 'solution' THEN 0.95 WHEN 'breakthrough' THEN 0.97 END,
        recorded,
        CASE recorded_significance WHEN 'normal' THEN 0.72 WHEN 'hypothesis' THEN 0.75 WHEN 'error' THEN 0.80
            WHEN 'decision' THEN 0.92 WHEN 'solution' THEN 0.95 WHEN 'breakthrough' THEN 0.97 END
    )
END
$$;
"""
