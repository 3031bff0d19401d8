"""Diffs that are too long for a page to wait for, made by a worker and kept for a while."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0023_hold_shared'),
    ]

    operations = [
        migrations.CreateModel(
            name='LongDiff',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('left_run', models.UUIDField()),
                ('right_run', models.UUIDField()),
                ('left_sequence', models.BigIntegerField()),
                ('right_sequence', models.BigIntegerField()),
                ('value', models.CharField(max_length=10)),
                ('sha256', models.CharField(max_length=64)),
                ('rows', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('attempts', models.IntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('rung_at', models.DateTimeField(null=True)),
                ('left_session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('right_session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_long_diff',
                'indexes': [models.Index(fields=['created_at'], name='long_diff_by_age')],
                'constraints': [models.UniqueConstraint(fields=('left_run', 'right_run', 'left_sequence', 'right_sequence', 'value', 'sha256'), name='long_diff_once'), models.CheckConstraint(condition=models.Q(('value__in', ('input', 'output', 'error'))), name='long_diff_value_known')],
            },
        ),
    ]
