"""What judges said of recorded answers."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0008_search_upkeep'),
    ]

    operations = [
        migrations.CreateModel(
            name='Judgement',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('sequence', models.BigIntegerField()),
                ('model', timemachine.payloads.fields.FaithfulTextField()),
                ('state', models.CharField(default='asking', max_length=10)),
                ('prompt_template', models.CharField(max_length=40)),
                ('system_prompt', timemachine.payloads.fields.FaithfulTextField()),
                ('prompt_sha256', models.CharField(max_length=64)),
                ('answer_sha256', models.CharField(max_length=64)),
                ('sentences', timemachine.payloads.fields.FaithfulJSONField()),
                ('parameters', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('usage', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ('prices', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('calls_made', models.IntegerField(null=True)),
                ('duration_ms', models.FloatField(null=True)),
                ('error_type', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('created_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
                ('action', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.action')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('prompt', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('raw', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='judgements', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_judgement',
                'indexes': [models.Index(fields=['session', 'sequence', 'created_at'], name='judgement_of_step')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ('asking', 'done', 'failed', 'lost'))), name='judgement_state_known'), models.UniqueConstraint(condition=models.Q(('state', 'asking')), fields=('action', 'model'), name='judgement_asked_once_at_a_time')],
            },
        ),
    ]
