-- What a share link shows is fixed when it is created, a version of a redaction profile never changes, and the log of
-- openings is append-only.

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_share_opening FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON tm_share_opening FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();

CREATE FUNCTION tm_profile_may_only_retire() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    may_differ text[] := ARRAY['retired_at', 'retired_by'];
BEGIN
    IF OLD.retired_at IS NULL AND (to_jsonb(NEW) - may_differ) = (to_jsonb(OLD) - may_differ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a version of a redaction profile never changes: it can only be retired, once'
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER may_only_retire BEFORE UPDATE ON tm_redaction_profile
    FOR EACH ROW EXECUTE FUNCTION tm_profile_may_only_retire();

CREATE FUNCTION tm_share_scope_is_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a share link shows is fixed when it is created'
        USING ERRCODE = 'restrict_violation', HINT = 'Revoke it and create another one.';
END $$;

CREATE TRIGGER scope_is_fixed BEFORE UPDATE ON tm_share_link FOR EACH ROW WHEN (
    (OLD.id, OLD.public_id, OLD.secret_sha256, OLD.project_id, OLD.session_id, OLD.replay_id, OLD.comparison_id,
     OLD.target_type, OLD.through_sequence, OLD.evidence_only, OLD.created_at, OLD.redaction, OLD.withheld)
    IS DISTINCT FROM
    (NEW.id, NEW.public_id, NEW.secret_sha256, NEW.project_id, NEW.session_id, NEW.replay_id, NEW.comparison_id,
     NEW.target_type, NEW.through_sequence, NEW.evidence_only, NEW.created_at, NEW.redaction, NEW.withheld)
) EXECUTE FUNCTION tm_share_scope_is_fixed();
