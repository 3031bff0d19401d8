-- Indexes for looking up sessions by a part of their name, key or tags, and steps that a file repeats from another session.
--
-- Functions are schema-qualified, so that a dump restores with an empty search path.

CREATE FUNCTION public.tm_session_words(name text, key text, tags text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT concat_ws(E'\n', name, key, array_to_string(tags, E'\n'));
END;

-- The runs of three characters in a text, in upper case: a text that contains another one has all of its runs. The
-- extension pg_trgm would do this, but is not in every Postgres that Time Machine runs on.
CREATE FUNCTION public.tm_trigrams(words text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT run), '{}') FROM (
        SELECT letter || lead(letter) OVER following || lead(letter, 2) OVER following AS run
        FROM unnest(string_to_array(upper(words), NULL)) WITH ORDINALITY AS one(letter, place)
        WINDOW following AS (ORDER BY place)
    ) AS runs WHERE run IS NOT NULL;
END;

CREATE INDEX tm_session_trigrams ON tm_session
    USING gin (public.tm_trigrams(public.tm_session_words(name, key, tags)));

-- Steps that tools copy into other sessions with their ids: answers of models, and what a person said. Metadata can
-- have any length, but an index entry cannot.
CREATE INDEX tm_action_answer ON tm_action ((metadata -> 'message_id'))
    WHERE kind = 'llm_call' AND metadata ? 'message_id' AND length(metadata ->> 'message_id') <= 200;
CREATE INDEX tm_action_prompt ON tm_action (client_id)
    WHERE kind = 'message' AND role = 'user' AND client_id IS NOT NULL;
