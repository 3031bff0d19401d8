"""What is counted of a session, the search index, and notes."""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
import timemachine.base.ids
import timemachine.payloads.fields
import timemachine.retrieval.fields
from django.db import models
from django.db.migrations import CreateModel

TABLES = [
    CreateModel(
        name='Bin',
        fields=[
            ('number', models.BigIntegerField()),
            ('errors', models.BigIntegerField()),
            ('timed', models.BigIntegerField()),
            ('duration_ms', models.FloatField()),
            ('input_tokens', models.BigIntegerField(null=True)),
            ('output_tokens', models.BigIntegerField(null=True)),
            ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30)),
            ('unknown_cost_calls', models.BigIntegerField()),
            ('cached_calls', models.BigIntegerField()),
            ('saved_usd', models.DecimalField(decimal_places=15, max_digits=30)),
            ('unknown_saved_calls', models.BigIntegerField()),
            ('pk', models.CompositePrimaryKey('session_id', 'bin', 'kind', blank=True, editable=False, primary_key=True, serialize=False)),
            ('bin', models.IntegerField()),
            ('kind', models.CharField(max_length=12)),
            ('folded', models.BigIntegerField()),
            ('first', models.DateTimeField(null=True)),
            ('last', models.DateTimeField(null=True)),
            ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_bin',
        },
    ),
    CreateModel(
        name='Latency',
        fields=[
            ('pk', models.CompositePrimaryKey('session_id', 'key', 'bucket', blank=True, editable=False, primary_key=True, serialize=False)),
            ('key', models.UUIDField()),
            ('bucket', models.SmallIntegerField()),
            ('number', models.BigIntegerField()),
            ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_latency',
        },
    ),
    CreateModel(
        name='FirstUse',
        fields=[
            ('pk', models.CompositePrimaryKey('session_id', 'key', blank=True, editable=False, primary_key=True, serialize=False)),
            ('key', models.UUIDField()),
            ('sequence', models.BigIntegerField()),
            ('rank', models.IntegerField()),
            ('frame', timemachine.payloads.fields.FaithfulJSONField()),
            ('version', models.IntegerField(null=True)),
            ('title', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_first_use',
            'indexes': [
                models.Index(fields=['session', 'sequence', 'rank'], name='first_use_in_order'),
            ],
        },
    ),
    CreateModel(
        name='Usage',
        fields=[
            ('number', models.BigIntegerField()),
            ('errors', models.BigIntegerField()),
            ('timed', models.BigIntegerField()),
            ('duration_ms', models.FloatField()),
            ('input_tokens', models.BigIntegerField(null=True)),
            ('output_tokens', models.BigIntegerField(null=True)),
            ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30)),
            ('unknown_cost_calls', models.BigIntegerField()),
            ('cached_calls', models.BigIntegerField()),
            ('saved_usd', models.DecimalField(decimal_places=15, max_digits=30)),
            ('unknown_saved_calls', models.BigIntegerField()),
            ('pk', models.CompositePrimaryKey('session_id', 'key', blank=True, editable=False, primary_key=True, serialize=False)),
            ('key', models.UUIDField()),
            ('day', models.DateField()),
            ('kind', models.CharField(max_length=12)),
            ('agent', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('model', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('tool', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_usage',
            'indexes': [
                models.Index(fields=['project', 'day'], name='usage_of_day'),
            ],
        },
    ),
    CreateModel(
        name='Indexing',
        fields=[
            ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.project')),
            ('lease_until', models.DateTimeField(null=True)),
            ('rung_at', models.DateTimeField(null=True)),
        ],
        options={
            'db_table': 'tm_indexing',
        },
    ),
    CreateModel(
        name='IndexedSession',
        fields=[
            ('session', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.session')),
            ('indexed_through', models.BigIntegerField(default=0)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('erasures', models.IntegerField(db_default=0, default=0)),
        ],
        options={
            'db_table': 'tm_indexed_session',
        },
    ),
    CreateModel(
        name='ActionMeaning',
        fields=[
            ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.action')),
            ('sequence', models.BigIntegerField()),
            ('model', models.CharField(max_length=200)),
            ('vector', timemachine.retrieval.fields.VectorField()),
            ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_action_meaning',
            'indexes': [
                models.Index(fields=['project'], name='meaning_of_project'),
                models.Index(fields=['session', 'sequence'], name='meaning_of_session'),
            ],
        },
    ),
    CreateModel(
        name='SearchedAction',
        fields=[
            ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.action')),
            ('sequence', models.BigIntegerField()),
            ('kind', models.CharField(max_length=12)),
            ('words', django.contrib.postgres.search.SearchVectorField()),
            ('weights', timemachine.retrieval.fields.WeightsField(dimensions=16777216)),
            ('cut', models.BooleanField()),
            ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
            ('tokens', models.IntegerField(null=True)),
        ],
        options={
            'db_table': 'tm_searched_action',
            'indexes': [
                django.contrib.postgres.indexes.GinIndex(fields=['words'], name='searched_words'),
                models.Index(fields=['project'], name='searched_of_project'),
                models.Index(fields=['session', 'sequence'], name='searched_of_session'),
            ],
        },
    ),
    CreateModel(
        name='Note',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('sequence', models.BigIntegerField()),
            ('text', timemachine.payloads.fields.FaithfulTextField(blank=True)),
            ('created_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('deleted_by', models.CharField(max_length=254, null=True)),
            ('deleted_at', models.DateTimeField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='notes', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_note',
            'indexes': [
                models.Index(condition=models.Q(('deleted_at', None)), fields=['session', 'sequence', 'id'], name='note_in_order'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('sequence__gte', 1)), name='note_of_a_step'),
                models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text'), 12000), name='note_of_bounded_length'),
                models.CheckConstraint(condition=models.Q(models.Q(models.Q(('deleted_at', None)), models.Q(('text', ''), _negated=True), ('deleted_by', None)), models.Q(('deleted_at__isnull', False), ('deleted_by__isnull', False), ('text', '')), _connector='OR'), name='note_has_a_text_or_was_deleted'),
            ],
        },
    ),
]
