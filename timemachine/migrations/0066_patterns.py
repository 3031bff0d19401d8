"""Patterns; a wording goes with the last step that says it, whoever takes that away.

The lock of a project's wordings comes first wherever they are written: so a worker that adds a step to a wording and an erasure that
takes its last one away never cross.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


GOES_WITH_ITS_STEPS = """
CREATE FUNCTION tm_lock_wordings(project uuid) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('tm_wording ' || project, 0))
$$;

CREATE FUNCTION tm_pattern_step_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_lock_wordings(OLD.project_id);
    UPDATE tm_wording SET stale = true
        WHERE NOT stale AND id IN (SELECT pattern_id FROM tm_wording WHERE id = OLD.wording_id);
    DELETE FROM tm_wording WHERE id = OLD.wording_id
        AND NOT EXISTS (SELECT FROM tm_pattern_step WHERE wording_id = OLD.wording_id);
    IF FOUND THEN
        UPDATE tm_pattern_reading SET regroup = true WHERE project_id = OLD.project_id AND NOT regroup;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER gone AFTER DELETE ON tm_pattern_step FOR EACH ROW EXECUTE FUNCTION tm_pattern_step_gone();
"""
STAYS = """
DROP TRIGGER gone ON tm_pattern_step;
DROP FUNCTION tm_pattern_step_gone();
DROP FUNCTION tm_lock_wordings(uuid);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0065_session_summary'),
    ]

    operations = [
        migrations.CreateModel(
            name='PatternReading',
            fields=[
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.project')),
                ('lease_until', models.DateTimeField(null=True)),
                ('rung_at', models.DateTimeField(null=True)),
                ('regroup', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'db_table': 'tm_pattern_reading',
            },
        ),
        migrations.CreateModel(
            name='PatternRule',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=10, null=True)),
                ('sessions', models.IntegerField()),
                ('window', models.CharField(max_length=5)),
                ('url', models.CharField(blank=True, max_length=500)),
                ('created_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_pattern_rule',
            },
        ),
        migrations.CreateModel(
            name='ReadSession',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.session')),
                ('read_through', models.BigIntegerField(default=0)),
                ('begun', models.IntegerField(default=0)),
                ('began_at', models.DateTimeField()),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_read_session',
            },
        ),
        migrations.CreateModel(
            name='Wording',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=10)),
                ('digest', models.CharField(max_length=64)),
                ('text', models.TextField()),
                ('words', django.contrib.postgres.fields.ArrayField(base_field=models.TextField())),
                ('sessions', models.IntegerField(default=0)),
                ('steps', models.IntegerField(default=0)),
                ('solved', models.IntegerField(default=0)),
                ('first_at', models.DateTimeField(null=True)),
                ('last_at', models.DateTimeField(null=True)),
                ('stale', models.BooleanField(default=True)),
                ('pattern', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='wordings', to='timemachine.wording')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_wording',
            },
        ),
        migrations.CreateModel(
            name='PatternStep',
            fields=[
                ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.action')),
                ('sequence', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('call', models.BigIntegerField(null=True)),
                ('solved_by', models.BigIntegerField(null=True)),
                ('solved_how', models.CharField(max_length=12, null=True)),
                ('changed', django.contrib.postgres.fields.ArrayField(base_field=timemachine.payloads.fields.FaithfulTextField(), default=list)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
                ('wording', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='said_by', to='timemachine.wording')),
            ],
            options={
                'db_table': 'tm_pattern_step',
            },
        ),
        migrations.CreateModel(
            name='PatternAlert',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('since', models.DateTimeField()),
                ('sessions', models.IntegerField()),
                ('found_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField(null=True)),
                ('seen_by', models.CharField(max_length=254, null=True)),
                ('told_at', models.DateTimeField(null=True)),
                ('problem', models.TextField(null=True)),
                ('attempts', models.IntegerField(default=0)),
                ('next_at', models.DateTimeField(null=True)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('rule', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='alerts', to='timemachine.patternrule')),
                ('pattern', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='alerts', to='timemachine.wording')),
            ],
            options={
                'db_table': 'tm_pattern_alert',
            },
        ),
        migrations.AddConstraint(
            model_name='patternrule',
            constraint=models.CheckConstraint(condition=models.Q(('sessions__range', (2, 1000))), name='pattern_rule_threshold'),
        ),
        migrations.AddConstraint(
            model_name='patternrule',
            constraint=models.CheckConstraint(condition=models.Q(('window__in', ('day', 'week', 'month'))), name='pattern_rule_window_known'),
        ),
        migrations.AddConstraint(
            model_name='patternrule',
            constraint=models.CheckConstraint(condition=models.Q(('kind', None), ('kind__in', ('error', 'question')), _connector='OR'), name='pattern_rule_kind_known'),
        ),
        migrations.AddIndex(
            model_name='wording',
            index=models.Index(condition=models.Q(('pattern', models.F('id'))), fields=['project', '-last_at', '-id'], name='pattern_newest'),
        ),
        migrations.AddIndex(
            model_name='wording',
            index=models.Index(condition=models.Q(('stale', True), ('pattern', None), _connector='OR'), fields=['project'], name='wording_unsettled'),
        ),
        migrations.AddConstraint(
            model_name='wording',
            constraint=models.UniqueConstraint(fields=('project', 'kind', 'digest'), name='wording_once'),
        ),
        migrations.AddConstraint(
            model_name='wording',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('error', 'question'))), name='wording_kind_known'),
        ),
        migrations.AddIndex(
            model_name='patternstep',
            index=models.Index(fields=['session', 'sequence'], name='pattern_step_of_session'),
        ),
        migrations.AddIndex(
            model_name='patternstep',
            index=models.Index(fields=['project', 'at'], name='pattern_step_lately'),
        ),
        migrations.AddConstraint(
            model_name='patternstep',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('solved_by', None), ('solved_how', None)), models.Q(('solved_by__gt', models.F('sequence')), ('solved_how__in', ('significant', 'same_call', 'changed_call'))), _connector='OR'), name='pattern_step_solved_later'),
        ),
        migrations.AddIndex(
            model_name='patternalert',
            index=models.Index(fields=['project', '-id'], name='pattern_alert_newest'),
        ),
        migrations.AddIndex(
            model_name='patternalert',
            index=models.Index(condition=models.Q(('seen_at', None)), fields=['project'], name='pattern_alert_unseen'),
        ),
        migrations.AddIndex(
            model_name='patternalert',
            index=models.Index(condition=models.Q(('next_at__isnull', False)), fields=['next_at'], name='pattern_alert_due'),
        ),
        migrations.AddConstraint(
            model_name='patternalert',
            constraint=models.UniqueConstraint(fields=('rule', 'pattern', 'since'), name='pattern_alert_once'),
        ),
        migrations.RunSQL(GOES_WITH_ITS_STEPS, STAYS),
    ]
