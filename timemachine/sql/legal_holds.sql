-- Nothing of a session under legal hold can be changed or deleted before the hold is released.

CREATE FUNCTION tm_refuse_held(session uuid, operation text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tm_held_session AS h WHERE h.session_id = session AND h.released_at IS NULL) THEN
        RAISE EXCEPTION 'the session % is under legal hold: % is refused', session, operation
            USING ERRCODE = 'restrict_violation', HINT = 'An administrator releases the hold first.';
    END IF;
END $$;

CREATE FUNCTION tm_session_not_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_refuse_held(OLD.id, TG_OP || ' of ' || TG_TABLE_NAME);
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE FUNCTION tm_row_not_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_refuse_held(OLD.session_id, TG_OP || ' of ' || TG_TABLE_NAME);
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE FUNCTION tm_hit_not_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_refuse_held(a.session_id, TG_OP || ' of ' || TG_TABLE_NAME) FROM tm_action AS a WHERE a.id = OLD.action_id;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER not_held BEFORE DELETE ON tm_session FOR EACH ROW EXECUTE FUNCTION tm_session_not_held();
CREATE TRIGGER not_held_when_erased BEFORE UPDATE ON tm_session FOR EACH ROW
    WHEN (current_setting('timemachine.erasing', true) = 'fields') EXECUTE FUNCTION tm_session_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_hit_not_held();
CREATE TRIGGER not_held BEFORE DELETE ON tm_replay FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_note FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE UPDATE ON tm_erasure FOR EACH ROW WHEN (NEW.status IN ('erasing', 'done'))
    EXECUTE FUNCTION tm_row_not_held();
