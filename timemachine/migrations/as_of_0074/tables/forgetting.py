"""Legal holds, retention rules, what was forgotten, and by what steps are narrowed when they are recalled."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
import timemachine.retrieval.fields
from django.db import models
from django.db.migrations import CreateModel

TABLES = [
    CreateModel(
        name='Hold',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('wanted', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('reason', timemachine.payloads.fields.FaithfulTextField()),
            ('placed_by', models.CharField(max_length=254)),
            ('placed_at', models.DateTimeField()),
            ('released_by', models.CharField(max_length=254, null=True)),
            ('released_at', models.DateTimeField(null=True)),
            ('release_reason', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_hold',
            'indexes': [
                models.Index(fields=['project', '-id'], name='hold_newest_first'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(models.Q(('release_reason', None), ('released_at', None), ('released_by', None)), models.Q(('release_reason__isnull', False), ('released_at__isnull', False), ('released_by__isnull', False)), _connector='OR'), name='hold_released_for_a_reason'),
            ],
        },
    ),
    CreateModel(
        name='HeldSession',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('released_at', models.DateTimeField(null=True)),
            ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
            ('hold', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='held', to='timemachine.hold')),
        ],
        options={
            'db_table': 'tm_held_session',
            'indexes': [
                models.Index(fields=['session'], name='held_session_of'),
                models.Index(condition=models.Q(('released_at', None)), fields=['session'], name='session_held_now'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('hold', 'session'), name='held_session_once'),
            ],
        },
    ),
    CreateModel(
        name='RetentionRule',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('agent', timemachine.payloads.fields.FaithfulTextField(blank=True, default='')),
            ('tag', timemachine.payloads.fields.FaithfulTextField(blank=True, default='')),
            ('days', models.IntegerField(null=True)),
            ('reason', timemachine.payloads.fields.FaithfulTextField(blank=True, default='')),
            ('set_by', models.CharField(max_length=254)),
            ('set_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('ran_at', models.DateTimeField(null=True)),
            ('removed_by', models.CharField(max_length=254, null=True)),
            ('removed_at', models.DateTimeField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_retention_rule',
            'constraints': [
                models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('project', 'agent', 'tag'), name='retention_rule_once'),
                models.CheckConstraint(condition=models.Q(('days', None), ('days__gte', 1), _connector='OR'), name='retention_rule_of_days'),
            ],
        },
    ),
    CreateModel(
        name='Forgetting',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('wanted', timemachine.payloads.fields.FaithfulJSONField()),
            ('status', models.CharField(default='found', max_length=10)),
            ('reason', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('requested_by', models.CharField(max_length=254)),
            ('requested_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('confirmed_by', models.CharField(max_length=254, null=True)),
            ('confirmed_at', models.DateTimeField(null=True)),
            ('finished_at', models.DateTimeField(null=True)),
            ('lease_token', models.UUIDField(null=True)),
            ('lease_until', models.DateTimeField(null=True)),
            ('rung_at', models.DateTimeField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('rule', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='runs', to='timemachine.retentionrule')),
        ],
        options={
            'db_table': 'tm_forgetting',
            'indexes': [
                models.Index(fields=['project', '-id'], name='forgetting_newest_first'),
                models.Index(condition=models.Q(('status', 'running')), fields=['id'], name='forgetting_under_way'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('status__in', ('found', 'running', 'done', 'cancelled'))), name='forgetting_status_known'),
                models.CheckConstraint(condition=models.Q(('status__in', ('found', 'cancelled')), models.Q(('confirmed_by__isnull', False), ('reason__isnull', False)), _connector='OR'), name='forgetting_has_a_reason'),
            ],
        },
    ),
    CreateModel(
        name='ErasedSession',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('session', models.UUIDField()),
            ('key_mark', models.CharField(max_length=64)),
            ('actions', models.BigIntegerField()),
            ('erased_at', models.DateTimeField()),
            ('erased_by', models.CharField(max_length=254, null=True)),
            ('reason', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('log_index', models.BigIntegerField()),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('summaries', timemachine.payloads.fields.FaithfulJSONField(null=True)),
        ],
        options={
            'db_table': 'tm_erased_session',
            'indexes': [
                models.Index(fields=['project', 'key_mark'], name='erased_session_by_key'),
            ],
        },
    ),
    CreateModel(
        name='ErasedTurn',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('sequence', models.BigIntegerField()),
            ('erased_at', models.DateTimeField()),
            ('erased_by', models.CharField(max_length=254)),
            ('reason', timemachine.payloads.fields.FaithfulTextField()),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='erased_turns', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_erased_turn',
            'constraints': [
                models.UniqueConstraint(fields=('session', 'sequence'), name='erased_turn_once'),
            ],
        },
    ),
    CreateModel(
        name='ForgottenSession',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('session', models.UUIDField()),
            ('turns', models.BigIntegerField()),
            ('state', models.CharField(default='waiting', max_length=10)),
            ('problem', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('forgetting', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='sessions', to='timemachine.forgetting')),
            ('summarised', models.BooleanField(db_default=False, default=False)),
        ],
        options={
            'db_table': 'tm_forgotten_session',
            'indexes': [
                models.Index(fields=['forgetting', 'state', 'id'], name='forgotten_session_in_order'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('forgetting', 'session'), name='forgotten_session_once'),
                models.CheckConstraint(condition=models.Q(('state__in', ('waiting', 'erased', 'held', 'changed', 'gone', 'failed'))), name='forgotten_session_state_known'),
            ],
        },
    ),
    CreateModel(
        name='ActionSketch',
        fields=[
            ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.action')),
            ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
            ('sequence', models.BigIntegerField()),
            ('at', models.DateTimeField()),
            ('vector', timemachine.retrieval.fields.VectorField(null=True)),
            ('kind', models.CharField(max_length=12)),
            ('significance', models.CharField(max_length=12, null=True)),
            ('worth', models.FloatField(null=True)),
            ('agent', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('tags', django.contrib.postgres.fields.ArrayField(base_field=timemachine.payloads.fields.FaithfulTextField(), null=True)),
        ],
        options={
            'db_table': 'tm_action_sketch',
            'indexes': [
                models.Index(fields=['project', 'at'], name='sketch_of_time'),
                models.Index(fields=['session'], name='sketch_of_session'),
            ],
        },
    ),
]
