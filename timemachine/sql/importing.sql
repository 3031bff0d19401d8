-- A large file is stored in parts until it is imported. They are deleted when the import finishes; after that, new parts are
-- refused.

CREATE FUNCTION tm_delete_file_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_file_part WHERE file_import_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER delete_file_parts AFTER INSERT OR UPDATE OF finished_at ON tm_file_import
    FOR EACH ROW WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION tm_delete_file_parts();

CREATE FUNCTION tm_refuse_late_file_part() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tm_file_import WHERE id = NEW.file_import_id AND finished_at IS NOT NULL) THEN
        RAISE EXCEPTION 'a finished import takes no more parts of a file';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER refuse_late_file_part BEFORE INSERT OR UPDATE ON tm_file_part
    FOR EACH ROW EXECUTE FUNCTION tm_refuse_late_file_part();
