"""What frames are ranked by moves to a table of its own, which a scan reads in less; identifiers are kept beside the words."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import pgvector.django.sparsevec
from django.db import migrations, models

import timemachine.payloads.fields

# Weights lie in the row, not compressed: they are read for every frame of a collection.
INLINE = """
ALTER TABLE tm_frame_weights ALTER COLUMN weights SET STORAGE EXTERNAL;
ALTER TABLE tm_frame_weights SET (toast_tuple_target = 8160);
ALTER TABLE tm_term_count SET (fillfactor = 70);
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0006_tokens_not_recorded")]
    operations = [
        migrations.RemoveField(model_name="frame", name="weights"),
        migrations.AddField(
            model_name="collection", name="frame_count", field=models.BigIntegerField(default=0)
        ),
        migrations.AddField(
            model_name="collection", name="changed_at", field=models.DateTimeField(null=True)
        ),
        migrations.AddField(
            model_name="frame",
            name="identifiers",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list),
        ),
        migrations.AddIndex(
            model_name="frame",
            index=django.contrib.postgres.indexes.GinIndex(fields=["identifiers"], name="frame_identifiers"),
        ),
        migrations.CreateModel(
            name="FrameWeights",
            fields=[
                (
                    "frame",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        primary_key=True,
                        related_name="weights",
                        serialize=False,
                        to="timemachine.frame",
                    ),
                ),
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="timemachine.collection",
                    ),
                ),
                ("number", models.BigIntegerField()),
                ("valid_from", models.DateTimeField()),
                ("valid_until", models.DateTimeField(null=True)),
                ("weights", pgvector.django.sparsevec.SparseVectorField(dimensions=16777216)),
            ],
            options={
                "db_table": "tm_frame_weights",
                "indexes": [
                    models.Index(fields=["collection", "valid_from"], name="weights_of_collection")
                ],
            },
        ),
        migrations.CreateModel(
            name="TermCount",
            fields=[
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="+",
                        to="timemachine.collection",
                    ),
                ),
                ("term", models.TextField()),
                ("frames", models.BigIntegerField()),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "collection", "term", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
            ],
            options={"db_table": "tm_term_count"},
        ),
        migrations.AddField(
            model_name="hit", name="matched", field=timemachine.payloads.fields.FaithfulJSONField(null=True)
        ),
        migrations.AddField(
            model_name="replayhit",
            name="matched",
            field=timemachine.payloads.fields.FaithfulJSONField(null=True),
        ),
        migrations.RunSQL(INLINE, migrations.RunSQL.noop),
    ]
