-- A second wall between projects: the application sees only the rows of the project in `timemachine.project`, even with a
-- query that forgets to name one. `*` shows every project; without a value, no row is visible.
--
-- The owner of the tables sees all rows. Foreign keys and unique indexes are checked against all rows, too.
--
-- Under a policy, PostgreSQL uses an index only with operators that cannot reveal hidden rows: it would otherwise read every
-- visible row. So `tm_frame` and `tm_searched_action`, which are found by their words, are not protected; what they
-- point to is. Nor is `tm_sign_in_link`: a link belongs to a person, and may be for no project. Two other indexes are used
-- by functions that run as the owner of the tables.

-- Protect the tables with a project that are not protected yet. A migration that creates one calls it.
CREATE FUNCTION public.tm_protect_rows() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    each record;
BEGIN
    FOR each IN
        SELECT c.oid::regclass AS name, CASE WHEN c.relname = 'tm_project' THEN 'id' ELSE 'project_id' END AS project
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
        AND (a.attname = 'project_id' OR c.relname = 'tm_project' AND a.attname = 'id')
        AND c.relname NOT IN ('tm_frame', 'tm_searched_action', 'tm_sign_in_link')
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', each.name);
        EXECUTE format(
            $policy$CREATE POLICY one_project ON %s USING (
                (SELECT current_setting('timemachine.project', true) = '*')
                OR %I = (SELECT nullif(nullif(current_setting('timemachine.project', true), '*'), '')::uuid)
            )$policy$, each.name, each.project
        );
    END LOOP;
END $$;

SELECT public.tm_protect_rows();

-- The sessions of a project whose words contain all these runs of three characters.
CREATE FUNCTION public.tm_sessions_with(project uuid, runs text[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT id FROM public.tm_session
    WHERE project_id = project AND public.tm_trigrams(public.tm_session_words(name, key, tags)) @> runs
    AND current_setting('timemachine.project', true) IN ('*', project::text)
$$;

-- The steps of a project that are answers with these ids.
CREATE FUNCTION public.tm_answers_with(project uuid, answers text[]) RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT id FROM public.tm_action
    WHERE project_id = project AND kind = 'llm_call' AND metadata ? 'message_id' AND length(metadata ->> 'message_id') <= 200
    AND metadata -> 'message_id' = ANY (ARRAY(SELECT to_jsonb(one) FROM unnest(answers) AS one))
    AND current_setting('timemachine.project', true) IN ('*', project::text)
$$;
