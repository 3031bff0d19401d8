-- Seals are append-only. The project's log and its anchors never change, not even by an erasure.

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_seal_checkpoint FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_seal_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_sealed_results FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE DELETE ON tm_sealed_record FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_sealed_record FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_log_entry FOR EACH ROW EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_log_entry FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_log_checkpoint FOR EACH ROW EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_log_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_anchored FOR EACH ROW EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_anchored FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_always();

-- An erasure deletes the salts of the values that it erases, and changes nothing else in a sealed record.
CREATE FUNCTION tm_may_only_lose_salts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('timemachine.erasing', true) = 'fields' AND OLD.salts @> NEW.salts
       AND (NEW.id, NEW.seal_id, NEW.index, NEW.envelope, NEW.leaf, NEW.row)
           IS NOT DISTINCT FROM (OLD.id, OLD.seal_id, OLD.index, OLD.envelope, OLD.leaf, OLD.row) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only an erasure removes salts, with the values they belong to.';
END $$;

CREATE TRIGGER may_only_lose_salts BEFORE UPDATE ON tm_sealed_record FOR EACH ROW EXECUTE FUNCTION tm_may_only_lose_salts();
