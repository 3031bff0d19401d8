"""What the database itself refuses: changing what was recorded.

Rows of sessions' actions, their hits and payloads are append-only. A frame's text never changes; only its end may be set,
once. The one way out is lawful erasure: `SET LOCAL timemachine.erasing = 'on'` lets rows be deleted (never changed) in that
transaction only.
"""

from django.db import migrations

PROMISES = """
CREATE FUNCTION tm_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('timemachine.erasing', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only erasing a session removes what was recorded.';
END $$;

CREATE FUNCTION tm_frame_may_only_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- generated columns are not computed yet in a BEFORE trigger; what they are made from is compared
    may_differ text[] := ARRAY['valid_until', 'ended_by', 'terms', 'weights'];
BEGIN
    IF OLD.valid_until IS NULL AND NEW.valid_until IS NOT NULL
       AND (to_jsonb(NEW) - may_differ) = (to_jsonb(OLD) - may_differ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a frame never changes: only its end may be set, once'
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_payload FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE DELETE ON tm_frame FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER may_only_end BEFORE UPDATE ON tm_frame FOR EACH ROW EXECUTE FUNCTION tm_frame_may_only_end();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_payload FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_action FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_hit FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_frame FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
"""

NO_PROMISES = """
DROP TRIGGER append_only ON tm_payload;
DROP TRIGGER append_only ON tm_action;
DROP TRIGGER append_only ON tm_hit;
DROP TRIGGER append_only ON tm_frame;
DROP TRIGGER may_only_end ON tm_frame;
DROP TRIGGER never_emptied ON tm_payload;
DROP TRIGGER never_emptied ON tm_action;
DROP TRIGGER never_emptied ON tm_hit;
DROP TRIGGER never_emptied ON tm_frame;
DROP FUNCTION tm_frame_may_only_end();
DROP FUNCTION tm_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0002_tables")]
    operations = [migrations.RunSQL(PROMISES, NO_PROMISES)]
