"""The vector extension, and the two functions that frames are indexed by.

`tm_bm25_weights` turns the terms of a passage into a sparse vector of BM25 weights without document frequencies
(Robertson and Zaragoza 2009: tf·(k1+1) / (tf + k1·(1−b+b·dl/avgdl)) with k1 = 1.2, b = 0.75 and a nominal average length
of 100 terms). A query's vector holds the inverse document frequencies; the inner product of the two is BM25.
Terms are hashed into 2^24 − 1 dimensions. Functions are qualified, so that a dump restores with an empty search path.
"""

from django.db import migrations
from pgvector.django import VectorExtension

FUNCTIONS = """
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
    ) AS kept;
END;
"""

NO_FUNCTIONS = """
DROP FUNCTION public.tm_bm25_weights(tsvector);
DROP FUNCTION public.tm_term_dimension(text);
DROP FUNCTION public.tm_frame_terms(text, text);
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [VectorExtension(), migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS)]
