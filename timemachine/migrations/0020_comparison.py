"""Comparisons: which replay is whose arm, marks and opinions; one goes with the last of its replays."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


# A comparison is nothing without its replays: erasing the last session of it leaves no orphan.
ORPHANS = """
CREATE FUNCTION tm_comparison_without_replays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_comparison AS c WHERE c.id = OLD.comparison_id
        AND NOT EXISTS (SELECT FROM tm_comparison_replay AS r WHERE r.comparison_id = c.id);
    RETURN NULL;
END $$;
CREATE TRIGGER no_orphan AFTER DELETE ON tm_comparison_replay
    FOR EACH ROW EXECUTE FUNCTION tm_comparison_without_replays();
"""
NO_ORPHANS = """
DROP TRIGGER no_orphan ON tm_comparison_replay;
DROP FUNCTION tm_comparison_without_replays();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0019_cancelled_judgement'),
    ]

    operations = [
        migrations.CreateModel(
            name='CellMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verdict', models.CharField(max_length=12)),
                ('note', timemachine.payloads.fields.FaithfulTextField(blank=True, default='')),
                ('marked_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'tm_cell_mark',
            },
        ),
        migrations.CreateModel(
            name='CellOpinion',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('model', timemachine.payloads.fields.FaithfulTextField()),
                ('state', models.CharField(default='waiting', max_length=10)),
                ('relation', models.CharField(max_length=12, null=True)),
                ('preference', models.CharField(max_length=12, null=True)),
                ('asked', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('prompt_template', models.CharField(max_length=40, null=True)),
                ('usage', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ('calls_made', models.IntegerField(default=0)),
                ('error_type', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('requested_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('asked_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'tm_cell_opinion',
            },
        ),
        migrations.CreateModel(
            name='Comparison',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('arms', timemachine.payloads.fields.FaithfulJSONField()),
                ('repeats', models.IntegerField(default=1)),
                ('noise_floor', models.BooleanField(default=False)),
                ('spend_limit_usd', models.FloatField(null=True)),
                ('reason', timemachine.payloads.fields.FaithfulTextField()),
                ('requested_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'tm_comparison',
            },
        ),
        migrations.CreateModel(
            name='ComparisonReplay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('arm', models.IntegerField()),
                ('repeat', models.IntegerField()),
            ],
            options={
                'db_table': 'tm_comparison_replay',
            },
        ),
        migrations.AddField(
            model_name='replay',
            name='spend_group',
            field=models.UUIDField(null=True),
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(condition=models.Q(('spend_group__isnull', False)), fields=['spend_group'], name='replay_of_spend_group'),
        ),
        migrations.AddField(
            model_name='cellmark',
            name='step',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='marks', to='timemachine.replaystep'),
        ),
        migrations.AddField(
            model_name='cellopinion',
            name='prompt',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload'),
        ),
        migrations.AddField(
            model_name='cellopinion',
            name='raw',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload'),
        ),
        migrations.AddField(
            model_name='cellopinion',
            name='step',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='opinions', to='timemachine.replaystep'),
        ),
        migrations.AddField(
            model_name='comparison',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project'),
        ),
        migrations.AddField(
            model_name='cellopinion',
            name='comparison',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='opinions', to='timemachine.comparison'),
        ),
        migrations.AddField(
            model_name='cellmark',
            name='comparison',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='marks', to='timemachine.comparison'),
        ),
        migrations.AddField(
            model_name='comparisonreplay',
            name='comparison',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='runs', to='timemachine.comparison'),
        ),
        migrations.AddField(
            model_name='comparisonreplay',
            name='replay',
            field=models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, related_name='run', to='timemachine.replay'),
        ),
        migrations.AddIndex(
            model_name='comparison',
            index=models.Index(fields=['project', '-id'], name='comparison_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='cellopinion',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('waiting', 'asking', 'done', 'failed', 'lost', 'cancelled'))), name='cell_opinion_state_known'),
        ),
        migrations.AddConstraint(
            model_name='cellopinion',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'asking'))), fields=('step', 'model'), name='cell_opinion_asked_once_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='cellmark',
            constraint=models.CheckConstraint(condition=models.Q(('verdict__in', ('equivalent', 'contradicts', 'better', 'worse', 'withdrawn'))), name='cell_mark_known'),
        ),
        migrations.AddConstraint(
            model_name='comparisonreplay',
            constraint=models.CheckConstraint(condition=models.Q(('arm__gte', 1), ('arm__lte', 8)), name='comparison_arm_1_to_8'),
        ),
        migrations.AddConstraint(
            model_name='comparisonreplay',
            constraint=models.CheckConstraint(condition=models.Q(('repeat__gte', 0)), name='comparison_repeat_from_0'),
        ),
        migrations.RunSQL(ORPHANS, NO_ORPHANS),
    ]
