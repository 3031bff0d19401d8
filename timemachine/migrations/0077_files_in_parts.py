"""A large file that a worker imports lies in parts, which go with the end of its import."""

import django.db.models.deletion
from django.db import migrations, models

LET_GO = """
CREATE FUNCTION tm_let_go_of_file_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_file_part WHERE file_import_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER file_parts_let_go AFTER INSERT OR UPDATE OF finished_at ON tm_file_import
FOR EACH ROW WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION tm_let_go_of_file_parts();

CREATE FUNCTION tm_no_file_part_when_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tm_file_import WHERE id = NEW.file_import_id AND finished_at IS NOT NULL) THEN
        RAISE EXCEPTION 'an import that is over keeps no file';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER no_file_part_when_over BEFORE INSERT OR UPDATE ON tm_file_part
FOR EACH ROW EXECUTE FUNCTION tm_no_file_part_when_over();
"""
KEPT = """
DROP TRIGGER no_file_part_when_over ON tm_file_part;
DROP FUNCTION tm_no_file_part_when_over();
DROP TRIGGER file_parts_let_go ON tm_file_import;
DROP FUNCTION tm_let_go_of_file_parts();
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0076_lost_parents")]
    operations = [
        migrations.CreateModel(
            name="FilePart",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("number", models.IntegerField()),
                ("data", models.BinaryField()),
                (
                    "file_import",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="parts",
                        to="timemachine.fileimport",
                    ),
                ),
            ],
            options={
                "db_table": "tm_file_part",
                "constraints": [
                    models.UniqueConstraint(fields=("file_import", "number"), name="file_part_once")
                ],
            },
        ),
        migrations.RunSQL(LET_GO, KEPT),
    ]
