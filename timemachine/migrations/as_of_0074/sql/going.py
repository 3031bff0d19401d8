"""What goes with something else that goes, whoever takes that away.

A comparison is nothing without its replays, and its figures are those of all of them; a wording goes with the last step that says
it. The lock of a project's wordings comes first wherever they are written: so a worker that adds a step to a wording and an erasure
that takes its last one away never cross.
"""

GOES_WITH = """
CREATE FUNCTION tm_comparison_without_replays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_comparison_findings AS f WHERE f.comparison_id = OLD.comparison_id;
    DELETE FROM tm_comparison AS c WHERE c.id = OLD.comparison_id
        AND NOT EXISTS (SELECT FROM tm_comparison_replay AS r WHERE r.comparison_id = c.id);
    RETURN NULL;
END $$;

CREATE TRIGGER no_orphan AFTER DELETE ON tm_comparison_replay
    FOR EACH ROW EXECUTE FUNCTION tm_comparison_without_replays();

CREATE FUNCTION tm_lock_wordings(project uuid) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('tm_wording ' || project, 0))
$$;

CREATE FUNCTION tm_pattern_step_gone() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER gone AFTER DELETE ON tm_pattern_step FOR EACH ROW EXECUTE FUNCTION tm_pattern_step_gone();
"""
