"""Weights and summaries of what is remembered, and patterns."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import models
from django.db.migrations import CreateModel

TABLES = [
    CreateModel(
        name='Compression',
        fields=[
            ('session', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='compression', serialize=False, to='timemachine.session')),
            ('through', models.BigIntegerField()),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
        ],
        options={
            'db_table': 'tm_compression',
        },
    ),
    CreateModel(
        name='Weight',
        fields=[
            ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='weight', serialize=False, to='timemachine.action')),
            ('significance', models.CharField(max_length=12, null=True)),
            ('importance', models.FloatField(null=True)),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
        ],
        options={
            'db_table': 'tm_weight',
            'constraints': [
                models.CheckConstraint(condition=models.Q(models.Q(('significance', None), ('significance__in', ('normal', 'hypothesis', 'error', 'decision', 'solution', 'breakthrough')), _connector='OR'), models.Q(('importance', None), models.Q(('importance__gte', 0), ('importance__lte', 1)), _connector='OR'), models.Q(('importance', None), ('significance', None), _negated=True)), name='weight_says_something'),
            ],
        },
    ),
    CreateModel(
        name='CompressionChange',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('compressed', models.BooleanField()),
            ('by_rule', models.BooleanField(default=False)),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_compression_change',
            'indexes': [
                models.Index(fields=['session', 'id'], name='compression_change_in_order'),
            ],
        },
    ),
    CreateModel(
        name='Declined',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('rule', models.CharField(max_length=12)),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('action', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.action')),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_declined',
            'constraints': [
                models.UniqueConstraint(fields=('session', 'action', 'rule'), name='declined_once'),
                models.CheckConstraint(condition=models.Q(('rule__in', ('first_error', 'error_gone', 'decision', 'hypothesis', 'root_cause', 'solved'))), name='declined_rule_known'),
            ],
        },
    ),
    CreateModel(
        name='WeightChange',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('sequence', models.BigIntegerField()),
            ('significance', models.CharField(max_length=12, null=True)),
            ('importance', models.FloatField(null=True)),
            ('rule', models.CharField(max_length=12, null=True)),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('action', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.action')),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_weight_change',
            'indexes': [
                models.Index(fields=['session', 'sequence', 'id'], name='weight_change_in_order'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(models.Q(('significance', None), ('significance__in', ('normal', 'hypothesis', 'error', 'decision', 'solution', 'breakthrough')), _connector='OR'), models.Q(('importance', None), models.Q(('importance__gte', 0), ('importance__lte', 1)), _connector='OR'), models.Q(('rule', None), ('rule__in', ('first_error', 'error_gone', 'decision', 'hypothesis', 'root_cause', 'solved')), _connector='OR')), name='weight_change_known'),
            ],
        },
    ),
    CreateModel(
        name='CompressionRule',
        fields=[
            ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.project')),
            ('days', models.PositiveIntegerField()),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('looked_at', models.DateTimeField(null=True)),
        ],
        options={
            'db_table': 'tm_compression_rule',
            'constraints': [
                models.CheckConstraint(condition=models.Q(('days__gte', 1)), name='compression_rule_of_days'),
            ],
        },
    ),
    CreateModel(
        name='SessionSummary',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('number', models.BigIntegerField()),
            ('version', models.IntegerField()),
            ('model', timemachine.payloads.fields.FaithfulTextField()),
            ('prompt_template', models.CharField(max_length=40, null=True)),
            ('through', models.BigIntegerField()),
            ('steps', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField())),
            ('unknown_steps', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField())),
            ('usage', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
            ('prices', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('duration_ms', models.FloatField(null=True)),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.collection')),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_session_summary',
            'indexes': [
                models.Index(fields=['session', '-id'], name='session_summary_latest'),
            ],
        },
    ),
    CreateModel(
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
    CreateModel(
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
            'constraints': [
                models.CheckConstraint(condition=models.Q(('sessions__range', (2, 1000))), name='pattern_rule_threshold'),
                models.CheckConstraint(condition=models.Q(('window__in', ('day', 'week', 'month'))), name='pattern_rule_window_known'),
                models.CheckConstraint(condition=models.Q(('kind', None), ('kind__in', ('error', 'question')), _connector='OR'), name='pattern_rule_kind_known'),
            ],
        },
    ),
    CreateModel(
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
    CreateModel(
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
            'indexes': [
                models.Index(condition=models.Q(('pattern', models.F('id'))), fields=['project', '-last_at', '-id'], name='pattern_newest'),
                models.Index(condition=models.Q(('stale', True), ('pattern', None), _connector='OR'), fields=['project'], name='wording_unsettled'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('project', 'kind', 'digest'), name='wording_once'),
                models.CheckConstraint(condition=models.Q(('kind__in', ('error', 'question'))), name='wording_kind_known'),
            ],
        },
    ),
    CreateModel(
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
            'indexes': [
                models.Index(fields=['session', 'sequence'], name='pattern_step_of_session'),
                models.Index(fields=['project', 'at'], name='pattern_step_lately'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(models.Q(('solved_by', None), ('solved_how', None)), models.Q(('solved_by__gt', models.F('sequence')), ('solved_how__in', ('significant', 'same_call', 'changed_call'))), _connector='OR'), name='pattern_step_solved_later'),
            ],
        },
    ),
    CreateModel(
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
            'indexes': [
                models.Index(fields=['project', '-id'], name='pattern_alert_newest'),
                models.Index(condition=models.Q(('seen_at', None)), fields=['project'], name='pattern_alert_unseen'),
                models.Index(condition=models.Q(('next_at__isnull', False)), fields=['next_at'], name='pattern_alert_due'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('rule', 'pattern', 'since'), name='pattern_alert_once'),
            ],
        },
    ),
]
