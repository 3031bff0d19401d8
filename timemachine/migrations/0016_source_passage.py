"""A file has passages that came with an earlier one, too. Those put until now are known of the file that they came with."""

import django.db.models.deletion
from django.db import migrations, models

PROMISES = """
INSERT INTO tm_source_passage (source_id, frame_id, start, "end")
SELECT source_id, id, source_start, source_end FROM tm_frame WHERE source_id IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_source_passage FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_source_passage FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
"""

NO_PROMISES = """
DROP TRIGGER append_only ON tm_source_passage;
DROP TRIGGER never_emptied ON tm_source_passage;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0015_refused_frame'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourcePassage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('start', models.IntegerField()),
                ('end', models.IntegerField()),
                ('frame', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='places', to='timemachine.frame')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='passages', to='timemachine.source')),
            ],
            options={
                'db_table': 'tm_source_passage',
                'constraints': [models.UniqueConstraint(fields=('source', 'start', 'frame'), name='source_passage_once'), models.CheckConstraint(condition=models.Q(('end__gt', models.F('start')), ('start__gte', 0)), name='source_passage_has_length')],
            },
        ),
        migrations.RunSQL(PROMISES, NO_PROMISES),
    ]
