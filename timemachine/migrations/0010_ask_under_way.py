"""Asks while they are under way, so that any process can end them."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models

class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0009_judgements'),
    ]

    operations = [
        migrations.CreateModel(
            name='AskUnderWay',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('question', timemachine.payloads.fields.FaithfulTextField()),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('cancel_wanted_at', models.DateTimeField(null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_ask_under_way',
                'indexes': [models.Index(fields=['project', 'started_at'], name='ask_under_way_by_project')],
            },
        ),
    ]
