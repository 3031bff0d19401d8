-- How the text of frames and steps becomes terms for search and ranking.
--
-- Loaded before the tables are created, because the terms of a frame are a generated column.
--
-- tm_bm25_weights turns the terms of a frame into a sparse vector of BM25 weights without document frequencies
-- (Robertson and Zaragoza 2009: tf·(k1+1) / (tf + k1·(1−b+b·dl/avgdl)) with k1 = 1.2, b = 0.75 and a nominal average
-- length of 100 terms). A query's vector holds the inverse document frequencies, so the inner product of the two is BM25.
-- Terms are hashed into 2^24 − 1 dimensions. Functions are schema-qualified, so that a dump restores with an empty search path.

CREATE FUNCTION public.tm_frame_terms(title text, body text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT setweight(to_tsvector('pg_catalog.english'::regconfig, coalesce(title, '')), 'A')
        || to_tsvector('pg_catalog.english'::regconfig, coalesce(body, ''));
END;

CREATE FUNCTION public.tm_term_dimension(term text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
BEGIN ATOMIC
    SELECT ((hashtextextended(term, 0) & 16777215) % 16777215) + 1;
END;

CREATE FUNCTION public.tm_bm25_weights(terms tsvector) RETURNS public.sparsevec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
BEGIN ATOMIC
    SELECT ('{' || coalesce(string_agg(dimension || ':' || weight, ',' ORDER BY dimension), '') || '}/16777216')::public.sparsevec
    FROM (
        SELECT dimension, weight
        FROM (
            SELECT public.tm_term_dimension(lexeme) AS dimension,
                   round(max(tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / 100.0))), 4) AS weight
            FROM (
                SELECT lexeme,
                       coalesce(cardinality(positions), 1)::numeric AS tf,
                       sum(coalesce(cardinality(positions), 1)) OVER () AS length
                FROM unnest(terms)
            ) AS counted
            GROUP BY 1
        ) AS weighted
        ORDER BY weight DESC, dimension
        LIMIT 16000
    ) AS heaviest;
END;

CREATE FUNCTION public.tm_search_terms(terms tsvector, identifiers text[]) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT terms || array_to_tsvector(ARRAY(SELECT '=' || each FROM unnest(identifiers) AS each));
END;

-- A tsvector has at most 1 MB. A longer text is cut in half until it fits.
CREATE FUNCTION tm_action_words(names text, body text, identifiers text[], OUT words tsvector, OUT cut boolean)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    cut := false;
    LOOP
        BEGIN
            words := tm_search_terms(tm_frame_terms(names, body), identifiers);
            RETURN;
        EXCEPTION WHEN program_limit_exceeded THEN
            cut := true;
            body := left(body, length(body) / 2);
            identifiers := identifiers[1:cardinality(identifiers) / 2];
        END;
    END LOOP;
END $$;
