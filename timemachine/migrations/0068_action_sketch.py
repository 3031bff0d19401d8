"""Sketches of the vectors of steps, by which very many are compared; those of the vectors that there are, too.

The statistics tell the planner how many steps lie in a span of time: it takes any for a two-hundredth, and then looks them up one by one.
"""

import django.db.models.deletion
import timemachine.retrieval.fields
from django.db import migrations, models


FILL = """
ALTER TABLE tm_action_sketch ALTER COLUMN vector SET STORAGE PLAIN;
INSERT INTO tm_action_sketch (action_id, project_id, vector)
SELECT action_id, project_id, l2_normalize(subvector(vector, 1, 64)) FROM tm_action_meaning WHERE vector_dims(vector) >= 64;
CREATE STATISTICS tm_action_at ON (coalesce(started_at, recorded_at)) FROM tm_action;
"""
NO_STATISTICS = "DROP STATISTICS tm_action_at;"


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0067_forgetting'),
    ]

    operations = [
        migrations.CreateModel(
            name='ActionSketch',
            fields=[
                ('meaning', models.OneToOneField(db_column='action_id', on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.actionmeaning')),
                ('vector', timemachine.retrieval.fields.VectorField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_action_sketch',
                'indexes': [models.Index(fields=['project'], name='sketch_of_project')],
            },
        ),
        migrations.RunSQL(FILL, reverse_sql=NO_STATISTICS),
    ]
