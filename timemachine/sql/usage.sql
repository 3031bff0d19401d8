-- The statistics of a session: triggers count in the transaction that appends, and an erasure has the session recounted.
--
-- Dollars and tokens stay null until a value is known: null means "not recorded", and 0 means that it cost nothing.
-- Copied actions (`copied_from`) happened in another session: bins count how many there are, and nothing else counts them.
-- Corrections change what another action had counted: they are in the sums of tokens and dollars and in the number of calls of
-- unknown cost, and are no steps.

-- SHA-256 and not MD5, because Postgres refuses MD5 where only approved algorithms run.
CREATE FUNCTION tm_short_key(what jsonb) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT encode(substring(sha256(convert_to(what::text, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid
$$;

-- Whether an action is a correction.
CREATE FUNCTION tm_is_correction(kind text, prices jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT kind = 'event' AND coalesce(prices ? 'correction', false)
$$;

-- By how much an action changes the number of calls of unknown cost. Its cost is unknown if it is a model call or has tokens of
-- calls, but has no cost, and none is stated for it with another one. A correction states the change: -1, 0 or 1.
CREATE FUNCTION tm_unknown_cost_calls(
    kind text, model text, cost_usd numeric, input_tokens bigint, output_tokens bigint, prices jsonb
) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN tm_is_correction(kind, prices) THEN
            CASE prices #>> '{correction,unknown_calls}' WHEN '1' THEN 1 WHEN '-1' THEN -1 ELSE 0 END
        WHEN cost_usd IS NULL AND (prices ->> 'source') IS DISTINCT FROM 'stated' AND (
            model IS NOT NULL OR kind = 'llm_call'
            OR (kind IN ('ask', 'event') AND (coalesce(input_tokens, 0) > 0 OR coalesce(output_tokens, 0) > 0))
        ) THEN 1
        ELSE 0
    END
$$;

-- What usage and latencies need of an action. `agent` is the session's if the action has none.
CREATE TYPE tm_counted AS (
    session_id uuid, project_id uuid, day date, kind text, agent text, model text, tool text, failed boolean,
    duration_ms double precision, cost_usd numeric, unknown_cost_calls integer, cached boolean, saved_usd numeric,
    input_tokens bigint, output_tokens bigint, is_correction boolean
);

-- Adds some actions to the usage and the latencies of their sessions. An action counts for the day, in UTC, on which it started,
-- or was recorded; imported ones without times count for no day.
CREATE FUNCTION tm_count_usage(counted tm_counted[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tm_usage (
        session_id, key, project_id, day, kind, agent, model, tool, number, errors, timed, duration_ms, cost_usd,
        unknown_cost_calls, cached_calls, saved_usd, unknown_saved_calls, input_tokens, output_tokens
    )
    SELECT
        a.session_id,
        tm_short_key(jsonb_build_array(a.day, a.kind, a.agent, a.model, a.tool)),
        a.project_id,
        a.day,
        a.kind,
        a.agent,
        a.model,
        a.tool,
        count(*) FILTER (WHERE NOT a.is_correction),
        count(*) FILTER (WHERE a.failed),
        count(a.duration_ms),
        coalesce(sum(a.duration_ms), 0),
        sum(a.cost_usd),
        sum(a.unknown_cost_calls),
        count(*) FILTER (WHERE a.cached),
        sum(a.saved_usd) FILTER (WHERE a.cached),
        count(*) FILTER (WHERE a.cached AND a.saved_usd IS NULL),
        sum(a.input_tokens),
        sum(a.output_tokens)
    FROM unnest(counted) AS a
    GROUP BY a.session_id, a.project_id, a.day, a.kind, a.agent, a.model, a.tool
    ON CONFLICT (session_id, key) DO UPDATE SET
        number = tm_usage.number + excluded.number,
        errors = tm_usage.errors + excluded.errors,
        timed = tm_usage.timed + excluded.timed,
        duration_ms = tm_usage.duration_ms + excluded.duration_ms,
        cost_usd = coalesce(tm_usage.cost_usd + excluded.cost_usd, tm_usage.cost_usd, excluded.cost_usd),
        unknown_cost_calls = tm_usage.unknown_cost_calls + excluded.unknown_cost_calls,
        cached_calls = tm_usage.cached_calls + excluded.cached_calls,
        saved_usd = coalesce(tm_usage.saved_usd + excluded.saved_usd, tm_usage.saved_usd, excluded.saved_usd),
        unknown_saved_calls = tm_usage.unknown_saved_calls + excluded.unknown_saved_calls,
        input_tokens = coalesce(tm_usage.input_tokens + excluded.input_tokens, tm_usage.input_tokens, excluded.input_tokens),
        output_tokens = coalesce(tm_usage.output_tokens + excluded.output_tokens, tm_usage.output_tokens, excluded.output_tokens);

    INSERT INTO tm_latency (session_id, key, bucket, number)
    SELECT
        a.session_id,
        tm_short_key(jsonb_build_array(a.day, a.kind, a.agent, a.model, a.tool)),
        floor(ln(greatest(a.duration_ms, 0.001)) / ln(1.05))::smallint AS bucket,
        count(*)
    FROM unnest(counted) AS a
    WHERE a.duration_ms IS NOT NULL
    GROUP BY a.session_id, a.day, a.kind, a.agent, a.model, a.tool, bucket
    ON CONFLICT (session_id, key, bucket) DO UPDATE SET number = tm_latency.number + excluded.number;
END $$;

-- The bins use dynamic SQL, which is planned for each statement (0.3 ms). Otherwise a function keeps the plan of its first
-- call, and a connection that started with an empty table kept reading all of the session for every action (300 ms for 512
-- actions at 4,000).
-- An action is folded if its parent, given by number or id, is an ask, find or put among the 64 actions before it.
CREATE FUNCTION tm_count_actions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE $bins$
    INSERT INTO tm_bin (
        session_id, bin, kind, number, copied, errors, timed, duration_ms, cost_usd, unknown_cost_calls, cached_calls, saved_usd,
        unknown_saved_calls, input_tokens, output_tokens, folded, first, last
    )
    SELECT
        a.session_id,
        (a.sequence - 1) / 100,
        a.kind,
        count(*),
        count(*) FILTER (WHERE NOT a.here OR tm_is_correction(a.kind, a.prices)),
        count(*) FILTER (WHERE a.here AND (a.error_type IS NOT NULL OR a.error_message IS NOT NULL)),
        count(a.duration_ms) FILTER (WHERE a.here),
        coalesce(sum(a.duration_ms) FILTER (WHERE a.here), 0),
        sum(a.cost_usd) FILTER (WHERE a.here),
        coalesce(sum(tm_unknown_cost_calls(a.kind, a.model, a.cost_usd, a.input_tokens, a.output_tokens, a.prices)) FILTER (WHERE a.here), 0),
        count(*) FILTER (WHERE a.here AND a.cached),
        sum(a.saved_usd) FILTER (WHERE a.here AND a.cached),
        count(*) FILTER (WHERE a.here AND a.cached AND a.saved_usd IS NULL),
        sum(a.input_tokens) FILTER (WHERE a.here),
        sum(a.output_tokens) FILTER (WHERE a.here),
        count(*) FILTER (WHERE a.folded),
        min(a.started_at) FILTER (WHERE a.here),
        max(a.started_at + coalesce(a.duration_ms, 0) * interval '1 millisecond') FILTER (WHERE a.here)
    FROM (
        SELECT one.*, one.copied_from IS NULL AS here, (EXISTS (
            SELECT FROM tm_action AS above
            WHERE above.session_id = one.session_id AND above.sequence = one.parent_sequence
            AND above.sequence BETWEEN one.sequence - 64 AND one.sequence - 1 AND above.kind IN ('ask', 'find', 'put')
        ) OR EXISTS (
            SELECT FROM tm_action AS above
            WHERE above.session_id = one.session_id AND above.client_id = one.parent_id_given
            AND above.sequence BETWEEN one.sequence - 64 AND one.sequence - 1 AND above.kind IN ('ask', 'find', 'put')
        )) AS folded
        FROM added AS one
    ) AS a
    GROUP BY 1, 2, 3
    ON CONFLICT (session_id, bin, kind) DO UPDATE SET
        number = tm_bin.number + excluded.number,
        copied = tm_bin.copied + excluded.copied,
        errors = tm_bin.errors + excluded.errors,
        timed = tm_bin.timed + excluded.timed,
        duration_ms = tm_bin.duration_ms + excluded.duration_ms,
        cost_usd = coalesce(tm_bin.cost_usd + excluded.cost_usd, tm_bin.cost_usd, excluded.cost_usd),
        unknown_cost_calls = tm_bin.unknown_cost_calls + excluded.unknown_cost_calls,
        cached_calls = tm_bin.cached_calls + excluded.cached_calls,
        saved_usd = coalesce(tm_bin.saved_usd + excluded.saved_usd, tm_bin.saved_usd, excluded.saved_usd),
        unknown_saved_calls = tm_bin.unknown_saved_calls + excluded.unknown_saved_calls,
        input_tokens = coalesce(tm_bin.input_tokens + excluded.input_tokens, tm_bin.input_tokens, excluded.input_tokens),
        output_tokens = coalesce(tm_bin.output_tokens + excluded.output_tokens, tm_bin.output_tokens, excluded.output_tokens),
        folded = tm_bin.folded + excluded.folded,
        first = least(tm_bin.first, excluded.first),
        last = greatest(tm_bin.last, excluded.last);
    $bins$;

    PERFORM tm_count_usage(array_agg(ROW(
        a.session_id, a.project_id, (coalesce(a.started_at, CASE WHEN s.imported_as IS NULL THEN a.recorded_at END) AT TIME ZONE 'UTC')::date, a.kind,
        coalesce(a.agent, s.agent), a.model, a.tool, a.error_type IS NOT NULL OR a.error_message IS NOT NULL,
        a.duration_ms, a.cost_usd, tm_unknown_cost_calls(a.kind, a.model, a.cost_usd, a.input_tokens, a.output_tokens, a.prices),
        a.cached, a.saved_usd, a.input_tokens, a.output_tokens, tm_is_correction(a.kind, a.prices)
    )::tm_counted))
    FROM added AS a JOIN tm_session AS s ON s.id = a.session_id
    WHERE a.copied_from IS NULL;

    RETURN NULL;
END $$;

CREATE TRIGGER count_actions AFTER INSERT ON tm_action
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tm_count_actions();

CREATE FUNCTION tm_count_hits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tm_first_use (session_id, key, sequence, rank, frame, version, title)
    SELECT DISTINCT ON (a.session_id, used.key) a.session_id, used.key, a.sequence, h.rank, h.frame, h.version, h.title
    FROM added AS h
    JOIN tm_action AS a ON a.id = h.action_id
    CROSS JOIN LATERAL (SELECT tm_short_key(jsonb_build_array(h.frame, h.version)) AS key) AS used
    WHERE h.frame IS NOT NULL
    ORDER BY a.session_id, used.key, a.sequence, h.rank
    ON CONFLICT (session_id, key) DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER count_hits AFTER INSERT ON tm_hit
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tm_count_hits();

-- Counts the remaining steps of a session as the triggers above do.
CREATE FUNCTION tm_recount_session(recounted uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_usage WHERE session_id = recounted;
    DELETE FROM tm_latency WHERE session_id = recounted;
    DELETE FROM tm_first_use WHERE session_id = recounted;

    PERFORM tm_count_usage(array_agg(ROW(
        a.session_id, a.project_id, (coalesce(a.started_at, CASE WHEN s.imported_as IS NULL THEN a.recorded_at END) AT TIME ZONE 'UTC')::date, a.kind,
        coalesce(a.agent, s.agent), a.model, a.tool, a.error_type IS NOT NULL OR a.error_message IS NOT NULL,
        a.duration_ms, a.cost_usd, tm_unknown_cost_calls(a.kind, a.model, a.cost_usd, a.input_tokens, a.output_tokens, a.prices),
        a.cached, a.saved_usd, a.input_tokens, a.output_tokens, tm_is_correction(a.kind, a.prices)
    )::tm_counted))
    FROM tm_action AS a JOIN tm_session AS s ON s.id = a.session_id
    WHERE a.session_id = recounted AND a.copied_from IS NULL;

    INSERT INTO tm_first_use (session_id, key, sequence, rank, frame, version, title)
    SELECT DISTINCT ON (a.session_id, used.key) a.session_id, used.key, a.sequence, h.rank, h.frame, h.version, h.title
    FROM (SELECT h.* FROM tm_hit AS h JOIN tm_action AS of ON of.id = h.action_id WHERE of.session_id = recounted) AS h
    JOIN tm_action AS a ON a.id = h.action_id
    CROSS JOIN LATERAL (SELECT tm_short_key(jsonb_build_array(h.frame, h.version)) AS key) AS used
    WHERE h.frame IS NOT NULL
    ORDER BY a.session_id, used.key, a.sequence, h.rank
    ON CONFLICT (session_id, key) DO NOTHING;
END $$;
