-- Recorded steps ("actions"), their hits and their payloads are append-only.
--
-- An erasure can delete them, or remove single values from the columns listed below.

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_payload FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_payload FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE DELETE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_action FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE DELETE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_hit FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();

CREATE FUNCTION tm_may_only_be_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('timemachine.erasing', true) = 'fields' AND to_jsonb(NEW) - TG_ARGV = to_jsonb(OLD) - TG_ARGV THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only an erasure removes recorded values.';
END $$;

CREATE TRIGGER may_only_be_erased BEFORE UPDATE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_may_only_be_erased(
    'client_id', 'agent', 'name', 'tool', 'call_id', 'parent_id_given', 'parent_sequence', 'tags', 'input_id', 'output_id',
    'source_id', 'label', 'error_type', 'error_message', 'model', 'parameters', 'prices', 'cached_from', 'grounding', 'retrieval',
    'copied_from', 'metadata'
);
CREATE TRIGGER may_only_be_erased BEFORE UPDATE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_may_only_be_erased(
    'frame', 'version', 'title', 'uri', 'metadata', 'scores', 'score', 'matched', 'sha256', 'payload_id'
);

-- What the branch of a continuation continues is sealed, so it never changes.
CREATE TRIGGER continues_once BEFORE UPDATE OF continues ON tm_session FOR EACH ROW
WHEN (OLD.continues::jsonb IS DISTINCT FROM NEW.continues::jsonb) EXECUTE FUNCTION tm_refuse_change();

-- Steps arrive roughly in the order of their times, so a BRIN index makes appends hardly slower. With the statistics, the
-- planner knows how many steps are in a time span; without, it assumes 1 in 200 and looks them up one by one.
CREATE INDEX tm_action_when ON tm_action USING brin ((coalesce(started_at, recorded_at)) timestamptz_minmax_multi_ops)
WITH (autosummarize = on);
CREATE STATISTICS tm_action_at ON (coalesce(started_at, recorded_at)) FROM tm_action;
