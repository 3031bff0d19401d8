-- A large file waits for its import in parts. They are deleted when the import finishes, and a finished import takes no more.

CREATE FUNCTION tm_let_go_of_file_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_file_part WHERE file_import_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER file_parts_let_go AFTER INSERT OR UPDATE OF finished_at ON tm_file_import
    FOR EACH ROW WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION tm_let_go_of_file_parts();

CREATE FUNCTION tm_no_file_part_when_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tm_file_import WHERE id = NEW.file_import_id AND finished_at IS NOT NULL) THEN
        RAISE EXCEPTION 'an import that is over keeps no file';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER no_file_part_when_over BEFORE INSERT OR UPDATE ON tm_file_part
    FOR EACH ROW EXECUTE FUNCTION tm_no_file_part_when_over();
