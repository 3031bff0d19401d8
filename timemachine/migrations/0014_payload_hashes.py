"""Payloads: their SHA-256 as 32 bytes instead of 64 hexadecimal digits, in the row and in its unique index.

A small table is rewritten in one step. In a large one, the hashes are converted some thousand rows at a time while earlier
servers continue to record; only what is in the rows themselves is written again, not what is stored outside of them. It
can be interrupted at any time: the next run continues.
"""

from typing import Any

from django.db import migrations

from timemachine.core.payloads.fields import Sha256Field

STATE = """
SELECT bool_or(attname = 'sha256' AND atttypid = 'bytea'::regtype), bool_or(attname = 'digest'),
       pg_total_relation_size('tm_payload'), (SELECT max(id) FROM tm_payload)
FROM pg_attribute WHERE attrelid = 'tm_payload'::regclass AND attname IN ('sha256', 'digest')
"""
SMALL = 256 * 1024 * 1024
AT_ONCE = 5_000
# altered text that is no hash stays another hash than that of the bytes
BYTES = "CASE WHEN sha256 ~ '^[0-9a-f]{64}$' THEN decode(sha256, 'hex') ELSE convert_to(sha256, 'UTF8') END"
REWRITE = f"ALTER TABLE tm_payload ALTER COLUMN sha256 TYPE bytea USING {BYTES}"
BEGIN = f"""
ALTER TABLE tm_payload ADD COLUMN IF NOT EXISTS digest bytea;
CREATE OR REPLACE FUNCTION tm_payload_digest() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sha256 CONSTANT text := NEW.sha256;
BEGIN
    NEW.digest := {BYTES};
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER digest BEFORE INSERT ON tm_payload FOR EACH ROW EXECUTE FUNCTION tm_payload_digest();
CREATE OR REPLACE TRIGGER append_only
BEFORE UPDATE OF id, project_id, sha256, media_type, data, created_at OR DELETE ON tm_payload
FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
ALTER TABLE tm_payload DROP CONSTRAINT IF EXISTS payload_has_digest;
ALTER TABLE tm_payload ADD CONSTRAINT payload_has_digest CHECK (digest IS NOT NULL) NOT VALID;
"""
CONVERT = f"UPDATE tm_payload SET digest = {BYTES} WHERE id > %s AND id <= %s AND digest IS NULL"
INDEX = (
    "DROP INDEX CONCURRENTLY IF EXISTS payload_digest_once",
    "CREATE UNIQUE INDEX CONCURRENTLY payload_digest_once ON tm_payload (project_id, digest, media_type)",
    "ALTER TABLE tm_payload VALIDATE CONSTRAINT payload_has_digest",
)
END = """
ALTER TABLE tm_payload ALTER COLUMN digest SET NOT NULL, DROP CONSTRAINT payload_has_digest, DROP CONSTRAINT payload_once;
DROP TRIGGER digest ON tm_payload;
DROP FUNCTION tm_payload_digest();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_payload
FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
ALTER TABLE tm_payload DROP COLUMN sha256;
ALTER TABLE tm_payload RENAME COLUMN digest TO sha256;
ALTER TABLE tm_payload ADD CONSTRAINT payload_once UNIQUE USING INDEX payload_digest_once;
"""


def convert(_: Any, editor: Any) -> None:
    """Convert the hashes in the way that fits the size of the table."""
    with editor.connection.cursor() as cursor:
        cursor.execute(STATE)
        is_done, has_begun, size, last = cursor.fetchone()
        if is_done:
            return
        if size <= SMALL and not has_begun:
            cursor.execute(REWRITE)
            return
        cursor.execute(BEGIN)
        for first in range(0, last or 0, AT_ONCE):
            cursor.execute(CONVERT, [first, first + AT_ONCE])
        for statement in (*INDEX, END, "ANALYZE tm_payload (sha256)"):
            cursor.execute(statement)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("timemachine", "0013_signing_key_store")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(convert)],
            state_operations=[
                migrations.AlterField(model_name="payload", name="sha256", field=Sha256Field()),
            ],
        )
    ]
