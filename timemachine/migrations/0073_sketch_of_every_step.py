"""Sketches have what steps are narrowed by, so that a question with a filter looks at nothing wider.

They are made anew, by the next migration: an update of each would write as much and leave holes, and this one locks what everybody reads.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import timemachine.payloads.fields
import timemachine.retrieval.fields
from django.db import migrations, models


FILL_AS_BEFORE = """
ALTER TABLE tm_action_sketch ALTER COLUMN vector SET STORAGE PLAIN;
INSERT INTO tm_action_sketch (action_id, project_id, vector)
SELECT action_id, project_id, l2_normalize(subvector(vector, 1, 64)) FROM tm_action_meaning WHERE vector_dims(vector) >= 64;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0072_no_second_indexes'),
    ]

    operations = [
        migrations.RunSQL(migrations.RunSQL.noop, FILL_AS_BEFORE),
        migrations.DeleteModel(name='ActionSketch'),
        migrations.CreateModel(
            name='ActionSketch',
            fields=[
                ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.action')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
                ('sequence', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('vector', timemachine.retrieval.fields.VectorField(null=True)),
                ('kind', models.CharField(max_length=12)),
                ('significance', models.CharField(max_length=12, null=True)),
                ('worth', models.FloatField(null=True)),
                ('agent', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=timemachine.payloads.fields.FaithfulTextField(), null=True, size=None)),
            ],
            options={
                'db_table': 'tm_action_sketch',
                'indexes': [models.Index(fields=['project', 'at'], name='sketch_of_time'), models.Index(fields=['session'], name='sketch_of_session')],
            },
        ),
        migrations.RunSQL("ALTER TABLE tm_action_sketch ALTER COLUMN vector SET STORAGE PLAIN", migrations.RunSQL.noop),
    ]
