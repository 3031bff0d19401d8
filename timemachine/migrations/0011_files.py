"""Files and their intakes are kept; a frame says where in which file it stood. A file, once kept, never changes.

The trigger `tm_frame_may_only_end` compares whole rows, so that it holds for the new columns of a frame as they are.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models

PROMISES = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_source FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_source FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
"""

NO_PROMISES = """
DROP TRIGGER append_only ON tm_source;
DROP TRIGGER never_emptied ON tm_source;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0010_ask_under_way'),
    ]

    operations = [
        migrations.AddField(
            model_name='frame',
            name='source_end',
            field=models.IntegerField(null=True),
        ),
        migrations.AddField(
            model_name='frame',
            name='source_start',
            field=models.IntegerField(null=True),
        ),
        migrations.CreateModel(
            name='Source',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('name', timemachine.payloads.fields.FaithfulTextField()),
                ('title', timemachine.payloads.fields.FaithfulTextField(blank=True)),
                ('uri', timemachine.payloads.fields.FaithfulTextField(blank=True)),
                ('media_type', models.CharField(max_length=50)),
                ('sha256', models.CharField(max_length=64)),
                ('put_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='sources', to='timemachine.collection')),
                ('original', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ],
            options={
                'db_table': 'tm_source',
            },
        ),
        migrations.CreateModel(
            name='Intake',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('recorded', models.BooleanField(default=False)),
                ('name', timemachine.payloads.fields.FaithfulTextField()),
                ('title', timemachine.payloads.fields.FaithfulTextField(blank=True)),
                ('uri', timemachine.payloads.fields.FaithfulTextField(blank=True)),
                ('replace', models.BooleanField(default=False)),
                ('put_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('status', models.CharField(default='waiting', max_length=10)),
                ('total', models.BigIntegerField(null=True)),
                ('done', models.BigIntegerField(default=0)),
                ('new', models.BigIntegerField(default=0)),
                ('already_there', models.BigIntegerField(default=0)),
                ('ended', models.BigIntegerField(default=0)),
                ('skipped', timemachine.payloads.fields.FaithfulJSONField(default=list)),
                ('error_code', models.CharField(max_length=60, null=True)),
                ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('lease_token', models.UUIDField(null=True)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.IntegerField(default=0)),
                ('rung_at', models.DateTimeField(null=True)),
                ('revision', models.BigIntegerField(default=0)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='intakes', to='timemachine.collection')),
                ('payload', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to='timemachine.session')),
                ('source', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to='timemachine.source')),
            ],
            options={
                'db_table': 'tm_intake',
            },
        ),
        migrations.AddField(
            model_name='frame',
            name='source',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='frames', to='timemachine.source'),
        ),
        migrations.AddConstraint(
            model_name='frame',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('source', None), ('source_end', None), ('source_start', None)), models.Q(('source__isnull', False), ('source_end__gt', models.F('source_start')), ('source_end__isnull', False), ('source_start__gte', 0), ('source_start__isnull', False)), _connector='OR'), name='frame_source_whole'),
        ),
        migrations.AddIndex(
            model_name='source',
            index=models.Index(fields=['collection', 'sha256'], name='source_by_content'),
        ),
        migrations.AddIndex(
            model_name='intake',
            index=models.Index(fields=['collection', '-id'], name='intake_newest_first'),
        ),
        migrations.AddIndex(
            model_name='intake',
            index=models.Index(condition=models.Q(('finished_at', None)), fields=['id'], name='intake_open'),
        ),
        migrations.AddConstraint(
            model_name='intake',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('waiting', 'running', 'done', 'failed'))), name='intake_status_known'),
        ),
        migrations.AddConstraint(
            model_name='intake',
            constraint=models.CheckConstraint(condition=models.Q(('done__gte', 0), ('ended__gte', 0)), name='intake_counts_from_0'),
        ),
        migrations.RunSQL(PROMISES, NO_PROMISES),
    ]
