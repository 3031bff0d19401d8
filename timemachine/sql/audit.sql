-- An event of the audit log never changes and is never deleted. It gets its place in the chain once.

CREATE FUNCTION tm_audit_event_is_chained_once() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    set_once text[] := ARRAY['sequence', 'previous_sha256', 'sha256'];
BEGIN
    IF OLD.sequence IS NULL AND (to_jsonb(NEW) - set_once) = (to_jsonb(OLD) - set_once) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'tm_audit_event is append-only: UPDATE is refused' USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER chained_once BEFORE UPDATE ON tm_audit_event
    FOR EACH ROW EXECUTE FUNCTION tm_audit_event_is_chained_once();
CREATE TRIGGER append_only BEFORE DELETE ON tm_audit_event FOR EACH ROW EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_audit_event FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_always();
