"""A find holds its collection by an advisory lock, which writes nothing: a lock on the row made every find wait for the disk."""

from django.db import migrations

HOLD = """
CREATE FUNCTION tm_collection_lock(collection uuid) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT hashtextextended('tm_collection ' || collection, 0);
END;
DROP FUNCTION tm_hold(uuid, text);
CREATE FUNCTION tm_hold(collection uuid, longest_wait text)
RETURNS TABLE (
    frame_count bigint, changed_at timestamptz, present timestamptz, embedding_model text, all_embedded boolean, any_ended boolean
)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', longest_wait, true);
    PERFORM pg_advisory_xact_lock_shared(tm_collection_lock(collection));
    RETURN QUERY SELECT c.frame_count, c.changed_at, greatest(clock_timestamp(), c.changed_at), c.embedding_model::text,
        NOT EXISTS (SELECT FROM tm_embedding_work AS w WHERE w.collection_id = c.id AND w.model = c.embedding_model)
        AND NOT EXISTS (SELECT FROM tm_refused_frame AS r WHERE r.collection_id = c.id AND r.model = c.embedding_model),
        EXISTS (SELECT FROM tm_frame AS f WHERE f.collection_id = c.id AND f.valid_until IS NOT NULL)
    FROM tm_collection AS c WHERE c.id = collection;
END $$;
"""
HOLD_BY_ROW = """
DROP FUNCTION tm_hold(uuid, text);
DROP FUNCTION tm_collection_lock(uuid);
CREATE FUNCTION tm_hold(collection uuid, longest_wait text)
RETURNS TABLE (frame_count bigint, changed_at timestamptz, present timestamptz, embedding_model text, all_embedded boolean)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', longest_wait, true);
    PERFORM 1 FROM tm_collection AS c WHERE c.id = collection FOR SHARE;
    RETURN QUERY SELECT c.frame_count, c.changed_at, greatest(clock_timestamp(), c.changed_at), c.embedding_model::text,
        NOT EXISTS (SELECT FROM tm_embedding_work AS w WHERE w.collection_id = c.id AND w.model = c.embedding_model)
        AND NOT EXISTS (SELECT FROM tm_refused_frame AS r WHERE r.collection_id = c.id AND r.model = c.embedding_model)
    FROM tm_collection AS c WHERE c.id = collection;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0022_trial")]
    operations = [migrations.RunSQL(HOLD, HOLD_BY_ROW)]
