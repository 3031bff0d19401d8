"""The answer cache, which ask a cached answer came from, and what a session saved by it."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.payloads.fields
from django.db import migrations, models


# sessions that recorded cached answers of other programs before there were these counters
COUNTED = """
UPDATE tm_session AS session
SET cached_calls = counted.calls, saved_usd = counted.saved, unknown_saved_calls = counted.unknown
FROM (
    SELECT session_id, count(*) AS calls, coalesce(sum(saved_usd), 0) AS saved,
           count(*) FILTER (WHERE saved_usd IS NULL) AS unknown
    FROM tm_action WHERE cached GROUP BY session_id
) AS counted
WHERE counted.session_id = session.id
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0004_queue'),
    ]

    operations = [
        migrations.CreateModel(
            name='AnswerCacheSwitch',
            fields=[
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.project')),
                ('on', models.BooleanField()),
                ('changed_by', models.CharField(max_length=254)),
                ('changed_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'tm_answer_cache_switch',
            },
        ),
        migrations.AddField(
            model_name='action',
            name='cached_from',
            field=timemachine.payloads.fields.FaithfulJSONField(null=True),
        ),
        migrations.AddField(
            model_name='session',
            name='cached_calls',
            field=models.BigIntegerField(default=0, db_default=0),
        ),
        migrations.AddField(
            model_name='session',
            name='saved_usd',
            field=models.DecimalField(db_default=0, decimal_places=15, default=0, max_digits=30),
        ),
        migrations.AddField(
            model_name='session',
            name='unknown_saved_calls',
            field=models.BigIntegerField(default=0, db_default=0),
        ),
        migrations.CreateModel(
            name='CachedAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('sequence', models.BigIntegerField(null=True)),
                ('asked_at', models.DateTimeField()),
                ('text', timemachine.payloads.fields.FaithfulTextField()),
                ('text_sha256', models.CharField(max_length=64)),
                ('model', timemachine.payloads.fields.FaithfulTextField()),
                ('parameters', timemachine.payloads.fields.FaithfulJSONField()),
                ('usage', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ('call_ms', models.FloatField()),
                ('size', models.BigIntegerField()),
                ('kept_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('used_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.collection')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_cached_answer',
                'indexes': [models.Index(fields=['project', '-used_at'], name='cached_answer_by_use')],
                'constraints': [models.UniqueConstraint(fields=('project', 'key'), name='cached_answer_once'), models.CheckConstraint(condition=models.Q(models.Q(('sequence', None), ('session', None)), models.Q(('sequence__isnull', False), ('session__isnull', False)), _connector='OR'), name='cached_answer_names_its_ask')],
            },
        ),
        migrations.RunSQL(COUNTED, migrations.RunSQL.noop),
    ]
