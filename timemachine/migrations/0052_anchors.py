"""Witnesses and timestamp authorities of a project's log, and what they said of its states."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


APPEND_ONLY = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_anchored FOR EACH ROW EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_anchored FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_always();
"""

NOT_APPEND_ONLY = """
DROP TRIGGER never_emptied ON tm_anchored;
DROP TRIGGER append_only ON tm_anchored;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0051_erasure'),
    ]

    operations = [
        migrations.CreateModel(
            name='Anchored',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=10)),
                ('url', models.CharField(max_length=500)),
                ('sent', models.BinaryField()),
                ('answer', models.BinaryField()),
                ('at', models.DateTimeField()),
                ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='anchored', to='timemachine.logcheckpoint')),
            ],
            options={
                'db_table': 'tm_anchored',
            },
        ),
        migrations.CreateModel(
            name='Anchor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=10)),
                ('url', models.CharField(max_length=500)),
                ('set_by', models.CharField(max_length=254)),
                ('set_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('size', models.BigIntegerField(default=0)),
                ('taken_at', models.DateTimeField(null=True)),
                ('error', models.TextField(null=True)),
                ('failed_at', models.DateTimeField(null=True)),
                ('attempts', models.IntegerField(default=0)),
                ('next_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_anchor',
                'constraints': [models.UniqueConstraint(fields=('project', 'kind'), name='anchor_of_a_kind_once'), models.CheckConstraint(condition=models.Q(('kind__in', ('witness', 'timestamp'))), name='anchor_kind_known')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
