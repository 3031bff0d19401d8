"""Triggers keep what a find reads: weights beside every frame, and how many current frames hold each term.

`changed_at` is the last moment at which a frame came or ended: for every later moment, the collection is what it is now.
Counts are kept in the transaction that puts, updates or deletes, so a find of now needs no count over the collection, and
still weighs every word by exactly as many frames as hold it.
"""

from django.db import migrations

UPKEEP = """
CREATE FUNCTION public.tm_search_terms(terms tsvector, identifiers text[]) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT terms || array_to_tsvector(ARRAY(SELECT '=' || each FROM unnest(identifiers) AS each));
END;

CREATE FUNCTION tm_frames_come() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tm_frame_weights (frame_id, collection_id, number, valid_from, valid_until, weights)
    SELECT id, collection_id, number, valid_from, valid_until,
           tm_bm25_weights(tm_search_terms(terms, identifiers))
    FROM fresh;
    INSERT INTO tm_term_count AS known (collection_id, term, frames)
    SELECT collection_id, word.lexeme, count(*)
    FROM fresh, unnest(tm_search_terms(terms, identifiers)) AS word
    WHERE valid_until IS NULL
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (collection_id, term) DO UPDATE SET frames = known.frames + excluded.frames;
    UPDATE tm_collection SET frame_count = frame_count + each.frames, changed_at = greatest(changed_at, each.latest)
    FROM (
        SELECT collection_id, count(*) FILTER (WHERE valid_until IS NULL) AS frames, max(valid_from) AS latest
        FROM fresh GROUP BY 1
    ) AS each
    WHERE id = each.collection_id;
    RETURN NULL;
END $$;

CREATE FUNCTION tm_frames_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        UPDATE tm_collection SET changed_at = greatest(changed_at, each.latest)
        FROM (SELECT collection_id, max(valid_until) AS latest FROM ended GROUP BY 1) AS each
        WHERE id = each.collection_id;
        UPDATE tm_frame_weights AS w SET valid_until = ended.valid_until
        FROM ended JOIN past ON past.id = ended.id AND past.valid_until IS NULL
        WHERE w.frame_id = ended.id;
    END IF;
    UPDATE tm_term_count AS known SET frames = known.frames - gone.frames
    FROM (
        SELECT collection_id, word.lexeme, count(*) AS frames
        FROM past, unnest(tm_search_terms(terms, identifiers)) AS word
        WHERE valid_until IS NULL
        GROUP BY 1, 2 ORDER BY 1, 2
    ) AS gone
    WHERE known.collection_id = gone.collection_id AND known.term = gone.lexeme;
    UPDATE tm_collection SET frame_count = frame_count - each.frames
    FROM (SELECT collection_id, count(*) AS frames FROM past WHERE valid_until IS NULL GROUP BY 1) AS each
    WHERE id = each.collection_id;
    RETURN NULL;
END $$;
"""

TRIGGERS = """
CREATE TRIGGER indexed_as_they_come AFTER INSERT ON tm_frame
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION tm_frames_come();
CREATE TRIGGER indexed_as_they_end AFTER UPDATE ON tm_frame
    REFERENCING OLD TABLE AS past NEW TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION tm_frames_end();
CREATE TRIGGER indexed_as_they_go AFTER DELETE ON tm_frame
    REFERENCING OLD TABLE AS past FOR EACH STATEMENT EXECUTE FUNCTION tm_frames_end();
"""

STANDING = """
INSERT INTO tm_frame_weights (frame_id, collection_id, number, valid_from, valid_until, weights)
SELECT id, collection_id, number, valid_from, valid_until, tm_bm25_weights(tm_search_terms(terms, identifiers))
FROM tm_frame;
INSERT INTO tm_term_count (collection_id, term, frames)
SELECT collection_id, word.lexeme, count(*)
FROM tm_frame, unnest(tm_search_terms(terms, identifiers)) AS word
WHERE valid_until IS NULL GROUP BY 1, 2;
UPDATE tm_collection SET
    frame_count = (SELECT count(*) FROM tm_frame WHERE collection_id = tm_collection.id AND valid_until IS NULL),
    changed_at = (SELECT greatest(max(valid_from), max(valid_until)) FROM tm_frame WHERE collection_id = tm_collection.id);
"""

NO_UPKEEP = """
DROP TRIGGER indexed_as_they_come ON tm_frame;
DROP TRIGGER indexed_as_they_end ON tm_frame;
DROP TRIGGER indexed_as_they_go ON tm_frame;
DROP FUNCTION tm_frames_come();
DROP FUNCTION tm_frames_end();
DROP FUNCTION public.tm_search_terms(tsvector, text[]);
"""


def name_identifiers(apps, schema_editor):
    """Find the identifiers of the frames that stand already; the promise that a frame never changes steps aside for it."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tm_frame DISABLE TRIGGER may_only_end")
        last = 0
        while last is not None:
            last = _name_some(cursor, last)
        cursor.execute("ALTER TABLE tm_frame ENABLE TRIGGER may_only_end")


def _name_some(cursor, after):
    from timemachine.retrieval.identifiers import identifiers

    some = "SELECT id, search_title, search_text FROM tm_frame WHERE id > %s ORDER BY id LIMIT 1000"
    cursor.execute(some, [after])
    frame = None
    for frame, title, body in cursor.fetchall():
        if found := identifiers(f"{title}\n{body}"):
            cursor.execute("UPDATE tm_frame SET identifiers = %s WHERE id = %s", [list(found), frame])
    return frame


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0007_search")]
    operations = [
        migrations.RunPython(name_identifiers, migrations.RunPython.noop),
        migrations.RunSQL(UPKEEP + STANDING + TRIGGERS, NO_UPKEEP),
    ]
