"""A find holds its collection by one call, indexes go that only begin as another one does, and the ended frames get one."""

import django.db.models.deletion
from django.db import migrations, models


# Statement by statement, as a function would not be in SQL: the clock is read after the wait for the lock, not before.
HOLD = """
CREATE FUNCTION tm_hold(collection uuid, longest_wait text)
RETURNS TABLE (frame_count bigint, changed_at timestamptz, present timestamptz, embedding_model text, all_embedded boolean)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', longest_wait, true);
    PERFORM 1 FROM tm_collection AS c WHERE c.id = collection FOR SHARE;
    RETURN QUERY SELECT c.frame_count, c.changed_at, greatest(clock_timestamp(), c.changed_at), c.embedding_model::text,
        NOT EXISTS (SELECT FROM tm_embedding_work AS w WHERE w.collection_id = c.id AND w.model = c.embedding_model)
        AND NOT EXISTS (SELECT FROM tm_refused_frame AS r WHERE r.collection_id = c.id AND r.model = c.embedding_model)
    FROM tm_collection AS c WHERE c.id = collection;
END $$;
"""
NO_HOLD = "DROP FUNCTION tm_hold(uuid, text);"


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0016_source_passage'),
    ]

    operations = [
        migrations.RunSQL(HOLD, NO_HOLD),
        migrations.AddIndex(
            model_name="frame",
            index=models.Index(
                condition=models.Q(("valid_until__isnull", False)),
                fields=["collection", "valid_until"],
                name="frame_ended",
            ),
        ),
        migrations.AlterField(
            model_name='frame',
            name='collection',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='frames', to='timemachine.collection'),
        ),
        migrations.AlterField(
            model_name='frameembedding',
            name='collection',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.collection'),
        ),
        migrations.AlterField(
            model_name='frameembedding',
            name='frame',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='embeddings', to='timemachine.frame'),
        ),
        migrations.AlterField(
            model_name='frameweights',
            name='collection',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.collection'),
        ),
        migrations.AlterField(
            model_name='termcount',
            name='collection',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.collection'),
        ),
    ]
