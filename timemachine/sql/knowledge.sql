-- Frames, their sources, and the search index.
--
-- A frame's text never changes; only its end can be set, once. Sources and their passages are append-only.
--
-- Triggers maintain the index in the transaction that puts, updates or deletes frames: a row of BM25 weights for each
-- frame, and the number of current frames that contain each term. So a find in the present need not count over the
-- collection, and its document frequencies are still exact. A collection's `changed_at` is the last time at which a frame
-- was added or ended. At every later time, the collection has its current state.

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_source FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_source FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_source_passage FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_source_passage FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_source_put FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_source_put FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE DELETE ON tm_frame FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_frame FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();

CREATE FUNCTION tm_frame_may_only_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- a BEFORE trigger does not see generated columns yet; the columns they come from are compared
    may_differ text[] := ARRAY['valid_until', 'ended_by', 'deleted_by', 'terms', 'weights'];
BEGIN
    IF OLD.valid_until IS NULL AND NEW.valid_until IS NOT NULL
       AND (to_jsonb(NEW) - may_differ) = (to_jsonb(OLD) - may_differ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a frame never changes: only its end can be set, once'
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER may_only_end BEFORE UPDATE ON tm_frame FOR EACH ROW EXECUTE FUNCTION tm_frame_may_only_end();

CREATE FUNCTION tm_index_new_frames() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tm_frame_weights (frame_id, collection_id, number, valid_from, valid_until, weights)
    SELECT id, collection_id, number, valid_from, valid_until,
           tm_bm25_weights(tm_search_terms(terms, identifiers))
    FROM added;
    INSERT INTO tm_term_count AS known (collection_id, term, frames)
    SELECT collection_id, word.lexeme, count(*)
    FROM added, unnest(tm_search_terms(terms, identifiers)) AS word
    WHERE valid_until IS NULL
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (collection_id, term) DO UPDATE SET frames = known.frames + excluded.frames;
    UPDATE tm_collection SET frame_count = frame_count + each.frames, changed_at = greatest(changed_at, each.latest)
    FROM (
        SELECT collection_id, count(*) FILTER (WHERE valid_until IS NULL) AS frames, max(valid_from) AS latest
        FROM added GROUP BY 1
    ) AS each
    WHERE id = each.collection_id;
    RETURN NULL;
END $$;

CREATE FUNCTION tm_index_ended_frames() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        UPDATE tm_collection SET changed_at = greatest(changed_at, each.latest)
        FROM (SELECT collection_id, max(valid_until) AS latest FROM ended GROUP BY 1) AS each
        WHERE id = each.collection_id;
        UPDATE tm_frame_weights AS w SET valid_until = ended.valid_until
        FROM ended JOIN past ON past.id = ended.id AND past.valid_until IS NULL
        WHERE w.frame_id = ended.id;
    END IF;
    UPDATE tm_term_count AS known SET frames = known.frames - removed.frames
    FROM (
        SELECT collection_id, word.lexeme, count(*) AS frames
        FROM past, unnest(tm_search_terms(terms, identifiers)) AS word
        WHERE valid_until IS NULL
        GROUP BY 1, 2 ORDER BY 1, 2
    ) AS removed
    WHERE known.collection_id = removed.collection_id AND known.term = removed.lexeme;
    UPDATE tm_collection SET frame_count = frame_count - each.frames
    FROM (SELECT collection_id, count(*) AS frames FROM past WHERE valid_until IS NULL GROUP BY 1) AS each
    WHERE id = each.collection_id;
    RETURN NULL;
END $$;

CREATE TRIGGER index_new_frames AFTER INSERT ON tm_frame
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tm_index_new_frames();
CREATE TRIGGER index_ended_frames AFTER UPDATE ON tm_frame
    REFERENCING OLD TABLE AS past NEW TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION tm_index_ended_frames();
CREATE TRIGGER index_deleted_frames AFTER DELETE ON tm_frame
    REFERENCING OLD TABLE AS past FOR EACH STATEMENT EXECUTE FUNCTION tm_index_ended_frames();

-- A find locks its collection with a shared advisory lock, which does not write.
CREATE FUNCTION tm_collection_lock(collection uuid) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT hashtextextended('tm_collection ' || collection, 0);
END;

-- In PL/pgSQL, because each statement takes its own snapshot: the clock is read after the lock was acquired.
CREATE FUNCTION tm_lock_for_find(collection uuid, longest_wait text)
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

-- Weights are read for every frame of a collection, so they are stored in the row and not compressed.
ALTER TABLE tm_frame_weights ALTER COLUMN weights SET STORAGE EXTERNAL;
ALTER TABLE tm_frame_weights SET (toast_tuple_target = 8160);
ALTER TABLE tm_term_count SET (fillfactor = 70);
