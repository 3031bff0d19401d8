"""Comparisons, long diffs, sweeps, and suites with their runs."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import models
from django.db.migrations import CreateModel

TABLES = [
    CreateModel(
        name='CellMark',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('verdict', models.CharField(max_length=12)),
            ('note', timemachine.payloads.fields.FaithfulTextField(blank=True, default='')),
            ('marked_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('step', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='marks', to='timemachine.replaystep')),
            ('comparison', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='marks', to='timemachine.comparison')),
        ],
        options={
            'db_table': 'tm_cell_mark',
            'constraints': [
                models.CheckConstraint(condition=models.Q(('verdict__in', ('equivalent', 'contradicts', 'better', 'worse', 'withdrawn'))), name='cell_mark_known'),
            ],
        },
    ),
    CreateModel(
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
            ('prompt', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ('raw', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ('step', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='opinions', to='timemachine.replaystep')),
            ('comparison', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='opinions', to='timemachine.comparison')),
            ('asked_again_at', models.DateTimeField(null=True)),
            ('waits_because', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('unknown_cost_calls', models.IntegerField(db_default=0, default=0)),
        ],
        options={
            'db_table': 'tm_cell_opinion',
            'constraints': [
                models.CheckConstraint(condition=models.Q(('state__in', ('waiting', 'asking', 'done', 'failed', 'lost', 'cancelled'))), name='cell_opinion_state_known'),
                models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'asking'))), fields=('step', 'model'), name='cell_opinion_asked_once_at_a_time'),
            ],
        },
    ),
    CreateModel(
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
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_comparison',
            'indexes': [
                models.Index(fields=['project', '-id'], name='comparison_newest_first'),
            ],
        },
    ),
    CreateModel(
        name='ComparisonReplay',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('arm', models.IntegerField()),
            ('repeat', models.IntegerField()),
            ('comparison', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='runs', to='timemachine.comparison')),
            ('replay', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, related_name='run', to='timemachine.replay')),
        ],
        options={
            'db_table': 'tm_comparison_replay',
            'constraints': [
                models.CheckConstraint(condition=models.Q(('arm__gte', 1), ('arm__lte', 8)), name='comparison_arm_1_to_8'),
                models.CheckConstraint(condition=models.Q(('repeat__gte', 0)), name='comparison_repeat_from_0'),
            ],
        },
    ),
    CreateModel(
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
            ('telling', timemachine.payloads.fields.FaithfulJSONField(null=True)),
        ],
        options={
            'db_table': 'tm_long_diff',
            'indexes': [
                models.Index(fields=['created_at'], name='long_diff_by_age'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('left_run', 'right_run', 'left_sequence', 'right_sequence', 'value', 'sha256'), name='long_diff_once'),
                models.CheckConstraint(condition=models.Q(('value__in', ('input', 'output', 'error'))), name='long_diff_value_known'),
            ],
        },
    ),
    CreateModel(
        name='Sweep',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('status', models.CharField(default='queued', max_length=10)),
            ('grid', timemachine.payloads.fields.FaithfulJSONField(default=dict)),
            ('steps', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('tokenizer', models.CharField(max_length=200)),
            ('requested_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('finished_at', models.DateTimeField(null=True)),
            ('cancel_requested_at', models.DateTimeField(null=True)),
            ('rung_at', models.DateTimeField(null=True)),
            ('revision', models.BigIntegerField(default=0)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='sweeps', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_sweep',
            'indexes': [
                models.Index(fields=['session', '-created_at'], name='sweep_of_session'),
                models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['created_at'], name='sweep_unfinished'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('status__in', ('queued', 'running', 'done', 'failed', 'cancelled'))), name='sweep_status_known'),
            ],
        },
    ),
    CreateModel(
        name='SweepRow',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('number', models.IntegerField()),
            ('setting', timemachine.payloads.fields.FaithfulJSONField()),
            ('status', models.CharField(default='waiting', max_length=10)),
            ('attempts_made', models.IntegerField(default=0)),
            ('lease_token', models.UUIDField(null=True)),
            ('lease_until', models.DateTimeField(null=True)),
            ('result', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('error_message', models.TextField(null=True)),
            ('finished_at', models.DateTimeField(null=True)),
            ('sweep', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='rows', to='timemachine.sweep')),
        ],
        options={
            'db_table': 'tm_sweep_row',
            'constraints': [
                models.UniqueConstraint(fields=('sweep', 'number'), name='sweep_row_once'),
                models.CheckConstraint(condition=models.Q(('status__in', ('waiting', 'running', 'done', 'failed', 'cancelled'))), name='sweep_row_status_known'),
                models.CheckConstraint(condition=models.Q(models.Q(('status', 'running'), _negated=True), models.Q(('lease_token__isnull', False), ('lease_until__isnull', False)), _connector='OR'), name='sweep_row_running_is_leased'),
            ],
        },
    ),
    CreateModel(
        name='ComparisonFindings',
        fields=[
            ('comparison', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='findings', serialize=False, to='timemachine.comparison')),
            ('cells', models.CharField(max_length=80, null=True)),
            ('content', models.TextField(null=True)),
            ('answers', models.IntegerField(default=0)),
            ('computed_at', models.DateTimeField(null=True)),
            ('attempts', models.IntegerField(default=0)),
            ('rung_at', models.DateTimeField(null=True)),
        ],
        options={
            'db_table': 'tm_comparison_findings',
            'constraints': [
                models.CheckConstraint(condition=models.Q(models.Q(('cells', None), ('computed_at', None), ('content', None)), models.Q(('cells__isnull', False), ('computed_at__isnull', False), ('content__isnull', False)), _connector='OR'), name='comparison_findings_whole_or_none'),
            ],
        },
    ),
    CreateModel(
        name='Suite',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('name', models.CharField(max_length=200)),
            ('options', timemachine.payloads.fields.FaithfulJSONField(default=dict)),
            ('use_models', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('fail_on', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('schedule', models.CharField(max_length=100, null=True)),
            ('schedule_since', models.DateTimeField(null=True)),
            ('next_run_at', models.DateTimeField(null=True)),
            ('created_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('matching', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('problem', timemachine.payloads.fields.FaithfulTextField(null=True)),
        ],
        options={
            'db_table': 'tm_suite',
            'indexes': [
                models.Index(condition=models.Q(('next_run_at__isnull', False)), fields=['next_run_at'], name='suite_due'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('project', 'name'), name='suite_name_once'),
                models.CheckConstraint(condition=models.Q(models.Q(('next_run_at', None), ('schedule', None), ('schedule_since', None)), models.Q(('next_run_at__isnull', False), ('schedule__isnull', False), ('schedule_since__isnull', False)), _connector='OR'), name='suite_schedule_is_due_some_time'),
            ],
        },
    ),
    CreateModel(
        name='SuiteEvent',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('name', models.CharField(max_length=200)),
            ('what', models.CharField(max_length=10)),
            ('facts', timemachine.payloads.fields.FaithfulJSONField(default=dict)),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('suite', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='events', to='timemachine.suite')),
        ],
        options={
            'db_table': 'tm_suite_event',
            'indexes': [
                models.Index(fields=['suite', '-id'], name='suite_event_newest'),
                models.Index(fields=['project', '-id'], name='suite_event_of_project'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('what__in', ('created', 'edited', 'deleted', 'skipped'))), name='suite_event_known'),
            ],
        },
    ),
    CreateModel(
        name='SuiteRun',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('number', models.IntegerField()),
            ('status', models.CharField(default='running', max_length=10)),
            ('options', timemachine.payloads.fields.FaithfulJSONField(default=dict)),
            ('use_models', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('fail_on', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('due_at', models.DateTimeField(null=True)),
            ('requested_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('finished_at', models.DateTimeField(null=True)),
            ('findings', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('held', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('previous', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to='timemachine.suiterun')),
            ('suite', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='runs', to='timemachine.suite')),
            ('cancelled_by', models.CharField(max_length=254, null=True)),
        ],
        options={
            'db_table': 'tm_suite_run',
            'constraints': [
                models.UniqueConstraint(fields=('suite', 'number'), name='suite_run_number_once'),
                models.UniqueConstraint(condition=models.Q(('finished_at', None)), fields=('suite',), name='suite_runs_do_not_overlap'),
                models.CheckConstraint(condition=models.Q(('status__in', ('running', 'done', 'failed', 'cancelled'))), name='suite_run_status_known'),
                models.CheckConstraint(condition=models.Q(models.Q(('finished_at', None), ('status', 'running')), models.Q(models.Q(('status', 'running'), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='suite_run_over_is_finished'),
            ],
        },
    ),
    CreateModel(
        name='SuiteReplay',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('position', models.IntegerField()),
            ('arm', models.IntegerField()),
            ('key', models.CharField(max_length=200)),
            ('problem_code', models.CharField(max_length=60, null=True)),
            ('problem', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('replay', models.OneToOneField(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='suite_replay', to='timemachine.replay')),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to='timemachine.session')),
            ('run', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='members', to='timemachine.suiterun')),
        ],
        options={
            'db_table': 'tm_suite_replay',
            'constraints': [
                models.UniqueConstraint(fields=('run', 'position', 'arm'), name='suite_replay_once'),
                models.CheckConstraint(condition=models.Q(('arm__gte', 1)), name='suite_replay_arm_from_1'),
            ],
        },
    ),
    CreateModel(
        name='SuiteSession',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('position', models.IntegerField()),
            ('key', models.CharField(max_length=200)),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to='timemachine.session')),
            ('suite', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='sessions', to='timemachine.suite')),
        ],
        options={
            'db_table': 'tm_suite_session',
            'constraints': [
                models.UniqueConstraint(fields=('suite', 'position'), name='suite_session_position_once'),
                models.UniqueConstraint(fields=('suite', 'session'), name='suite_session_once'),
            ],
        },
    ),
    CreateModel(
        name='SuiteStep',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('place', models.IntegerField()),
            ('change', models.CharField(max_length=20)),
            ('after', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.replaystep')),
            ('before', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.replaystep')),
            ('run', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='report', to='timemachine.suiterun')),
        ],
        options={
            'db_table': 'tm_suite_step',
            'indexes': [
                models.Index(fields=['run', 'change', 'place'], name='suite_step_by_change'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('run', 'place'), name='suite_step_place_once'),
                models.CheckConstraint(condition=models.Q(('before__isnull', False), ('after__isnull', False), _connector='OR'), name='suite_step_is_somewhere'),
            ],
        },
    ),
    CreateModel(
        name='CallBeside',
        fields=[
            ('id', models.UUIDField(primary_key=True, serialize=False)),
            ('spend_group', models.UUIDField()),
            ('reserved_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
            ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
            ('lost_after', models.DateTimeField()),
            ('finished_at', models.DateTimeField(null=True)),
        ],
        options={
            'db_table': 'tm_call_beside',
            'indexes': [
                models.Index(fields=['spend_group'], name='call_beside_of_spend_group'),
            ],
        },
    ),
]
