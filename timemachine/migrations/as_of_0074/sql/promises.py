"""What the database itself refuses: changing what was recorded, and taking away what is under legal hold.

Rows of actions, hits, payloads and the like are append-only. A frame's text never changes; only its end may be set, once. The one way
out is lawful erasure: `SET LOCAL timemachine.erasing = 'on'` lets rows be deleted (never changed) in that transaction only. In one that
says `'fields'` some columns of recorded rows may change, and a sealed record may lose salts; nothing can be deleted then. The log of a
project never loses a line, and nothing at all gets past a hold.
"""

BY_ERASURE_ONLY = (
    "tm_payload", "tm_source", "tm_source_passage", "tm_source_put", "tm_share_opening", "tm_seal_checkpoint", "tm_sealed_results",
)
# what else may happen to a row of these, another trigger says
DELETED_BY_ERASURE_ONLY = ("tm_action", "tm_hit", "tm_frame", "tm_sealed_record")
NEVER = ("tm_log_entry", "tm_log_checkpoint", "tm_anchored")
OF_ACTION = (
    "client_id", "agent", "name", "tool", "call_id", "parent_id_given", "parent_sequence", "tags", "input_id", "output_id", "source_id",
    "label", "error_type", "error_message", "model", "parameters", "prices", "cached_from", "grounding", "retrieval",
)
OF_HIT = ("frame", "version", "title", "uri", "metadata", "scores", "score", "matched", "sha256", "payload_id")


def append_only(tables, operations, function):
    """Neither is a row of these tables changed so, nor are they emptied."""
    return "".join(
        f"""
CREATE TRIGGER append_only BEFORE {operations} ON {table} FOR EACH ROW EXECUTE FUNCTION {function}();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION {function}();"""
        for table in tables
    )


def quoted(names):
    return ", ".join(f"'{name}'" for name in names)


APPEND_ONLY = f"""
CREATE FUNCTION tm_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('timemachine.erasing', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only erasing a session removes what was recorded.';
END $$;

CREATE FUNCTION tm_refuse_always() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'The log of a project outlives what it speaks of.';
END $$;
{append_only(BY_ERASURE_ONLY, "UPDATE OR DELETE", "tm_refuse_change")}
{append_only(DELETED_BY_ERASURE_ONLY, "DELETE", "tm_refuse_change")}
{append_only(NEVER, "UPDATE OR DELETE", "tm_refuse_always")}
"""

ENDED_OR_ERASED = f"""
CREATE FUNCTION tm_frame_may_only_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- generated columns are not computed yet in a BEFORE trigger; what they are made from is compared
    may_differ text[] := ARRAY['valid_until', 'ended_by', 'deleted_by', 'terms', 'weights'];
BEGIN
    IF OLD.valid_until IS NULL AND NEW.valid_until IS NOT NULL
       AND (to_jsonb(NEW) - may_differ) = (to_jsonb(OLD) - may_differ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a frame never changes: only its end may be set, once'
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER may_only_end BEFORE UPDATE ON tm_frame FOR EACH ROW EXECUTE FUNCTION tm_frame_may_only_end();

CREATE FUNCTION tm_may_only_be_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('timemachine.erasing', true) = 'fields' AND to_jsonb(NEW) - TG_ARGV = to_jsonb(OLD) - TG_ARGV THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only an erasure takes away something of what was recorded.';
END $$;

CREATE FUNCTION tm_may_only_lose_salts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('timemachine.erasing', true) = 'fields' AND OLD.salts @> NEW.salts
       AND (NEW.id, NEW.seal_id, NEW.index, NEW.envelope, NEW.leaf, NEW.row)
           IS NOT DISTINCT FROM (OLD.id, OLD.seal_id, OLD.index, OLD.envelope, OLD.leaf, OLD.row) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only an erasure drops the salt of what it takes away.';
END $$;

CREATE TRIGGER may_only_be_erased BEFORE UPDATE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_may_only_be_erased({quoted(OF_ACTION)});
CREATE TRIGGER may_only_be_erased BEFORE UPDATE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_may_only_be_erased({quoted(OF_HIT)});
CREATE TRIGGER may_only_lose_salts BEFORE UPDATE ON tm_sealed_record FOR EACH ROW EXECUTE FUNCTION tm_may_only_lose_salts();
"""

FIXED = """
CREATE FUNCTION tm_profile_may_only_retire() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    may_differ text[] := ARRAY['retired_at', 'retired_by'];
BEGIN
    IF OLD.retired_at IS NULL AND (to_jsonb(NEW) - may_differ) = (to_jsonb(OLD) - may_differ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a version of a redaction profile never changes: it may only be retired, once'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER may_only_retire BEFORE UPDATE ON tm_redaction_profile
    FOR EACH ROW EXECUTE FUNCTION tm_profile_may_only_retire();

CREATE FUNCTION tm_share_scope_is_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a share link shows is fixed when it is made'
        USING ERRCODE = 'restrict_violation', HINT = 'Revoke it and make another.';
END $$;

CREATE TRIGGER scope_is_fixed BEFORE UPDATE ON tm_share_link FOR EACH ROW WHEN (
    (OLD.id, OLD.public_id, OLD.secret_sha256, OLD.project_id, OLD.session_id, OLD.replay_id, OLD.comparison_id,
     OLD.target_type, OLD.through_sequence, OLD.evidence_only, OLD.created_at, OLD.redaction)
    IS DISTINCT FROM
    (NEW.id, NEW.public_id, NEW.secret_sha256, NEW.project_id, NEW.session_id, NEW.replay_id, NEW.comparison_id,
     NEW.target_type, NEW.through_sequence, NEW.evidence_only, NEW.created_at, NEW.redaction)
) EXECUTE FUNCTION tm_share_scope_is_fixed();
"""

HELD = """
CREATE FUNCTION tm_refuse_held(session uuid, told text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tm_held_session AS h WHERE h.session_id = session AND h.released_at IS NULL) THEN
        RAISE EXCEPTION 'the session % is under legal hold: % is refused', session, told
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
CREATE TRIGGER not_held_of_erasing BEFORE UPDATE ON tm_session FOR EACH ROW
    WHEN (current_setting('timemachine.erasing', true) = 'fields') EXECUTE FUNCTION tm_session_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_hit_not_held();
CREATE TRIGGER not_held BEFORE DELETE ON tm_replay FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_note FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE UPDATE ON tm_erasure FOR EACH ROW WHEN (NEW.status IN ('erasing', 'done'))
    EXECUTE FUNCTION tm_row_not_held();
"""

PROMISES = APPEND_ONLY + ENDED_OR_ERASED + FIXED + HELD
