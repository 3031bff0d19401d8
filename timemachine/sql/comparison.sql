-- A comparison is deleted with the last of its replays. Its findings are deleted with any of them, as they come from all.

CREATE FUNCTION tm_delete_empty_comparison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_comparison_findings AS f WHERE f.comparison_id = OLD.comparison_id;
    DELETE FROM tm_comparison AS c WHERE c.id = OLD.comparison_id
        AND NOT EXISTS (SELECT FROM tm_comparison_replay AS r WHERE r.comparison_id = c.id);
    RETURN NULL;
END $$;

CREATE TRIGGER delete_empty_comparison AFTER DELETE ON tm_comparison_replay
    FOR EACH ROW EXECUTE FUNCTION tm_delete_empty_comparison();
