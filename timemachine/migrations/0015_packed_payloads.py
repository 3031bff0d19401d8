"""Payloads: compressed where that saves something, with their size before as a column of its own.

Rewrites nothing and scans nothing: rows that are there stay as they are, and are read as such.
"""

from django.db import migrations, models
from django.db.models.functions import Length

SQL = """
ALTER TABLE tm_payload ALTER COLUMN size DROP EXPRESSION;
ALTER TABLE tm_payload ADD COLUMN packed boolean NOT NULL DEFAULT false;
ALTER TABLE tm_payload ADD CONSTRAINT payload_size_is_right CHECK (
    NOT packed AND size = length(data) OR packed AND size > length(data)
) NOT VALID;
-- compressing what is packed, or did not become shorter, would be a waste of time
ALTER TABLE tm_payload ALTER COLUMN data SET STORAGE EXTERNAL;
"""
RIGHT = models.Q(packed=False, size=Length("stored")) | models.Q(packed=True, size__gt=Length("stored"))


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0014_payload_hashes")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(SQL)],
            state_operations=[
                migrations.RenameField(model_name="payload", old_name="data", new_name="stored"),
                migrations.AlterField(
                    model_name="payload", name="stored", field=models.BinaryField(db_column="data")
                ),
                migrations.RemoveField(model_name="payload", name="size"),
                migrations.AddField(model_name="payload", name="size", field=models.BigIntegerField()),
                migrations.AddField(
                    model_name="payload", name="packed", field=models.BooleanField(db_default=False, default=False)
                ),
                migrations.AddConstraint(
                    model_name="payload",
                    constraint=models.CheckConstraint(condition=RIGHT, name="payload_size_is_right"),
                ),
            ],
        )
    ]
