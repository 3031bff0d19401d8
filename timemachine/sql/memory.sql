-- What search and patterns derive from recorded steps, and what is deleted of it with a step.
--
-- A wording is deleted with the last step that has it. Every writer of wordings takes the project's lock first, so that a
-- worker that adds a step to a wording and an erasure that removes its last step never deadlock.

CREATE FUNCTION tm_lock_wordings(project uuid) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('tm_wording ' || project, 0))
$$;

CREATE FUNCTION tm_delete_unused_wording() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_lock_wordings(OLD.project_id);
    UPDATE tm_wording SET stale = true
        WHERE NOT stale AND id IN (SELECT pattern_id FROM tm_wording WHERE id = OLD.wording_id);
    DELETE FROM tm_wording WHERE id = OLD.wording_id
        AND NOT EXISTS (SELECT FROM tm_pattern_step WHERE wording_id = OLD.wording_id);
    IF FOUND THEN
        UPDATE tm_pattern_reading SET regroup = true WHERE project_id = OLD.project_id AND NOT regroup;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER delete_unused_wording AFTER DELETE ON tm_pattern_step FOR EACH ROW EXECUTE FUNCTION tm_delete_unused_wording();

-- A project's counts of common words are deleted when something is erased.
CREATE FUNCTION tm_delete_counted_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('counted words ' || OLD.project_id, 0));
    DELETE FROM tm_counted_word WHERE project_id = OLD.project_id;
    RETURN NULL;
END $$;

CREATE TRIGGER delete_counted_words AFTER DELETE OR UPDATE OF erasures ON tm_indexed_session
    FOR EACH ROW EXECUTE FUNCTION tm_delete_counted_words();

-- Vectors are read for every step of a search, so they are stored in the row and not compressed.
ALTER TABLE tm_action_meaning ALTER COLUMN vector SET STORAGE PLAIN;
ALTER TABLE tm_action_sketch ALTER COLUMN vector SET STORAGE PLAIN;
