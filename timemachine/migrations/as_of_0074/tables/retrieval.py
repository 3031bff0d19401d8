"""The answer cache, what a find reads beside a frame, judgements, files with their passages, and models."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import pgvector.django.sparsevec
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import models
from django.db.migrations import CreateModel

TABLES = [
    CreateModel(
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
    CreateModel(
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
            'indexes': [
                models.Index(fields=['project', '-used_at'], name='cached_answer_by_use'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('project', 'key'), name='cached_answer_once'),
                models.CheckConstraint(condition=models.Q(models.Q(('sequence', None), ('session', None)), models.Q(('sequence__isnull', False), ('session__isnull', False)), _connector='OR'), name='cached_answer_names_its_ask'),
            ],
        },
    ),
    CreateModel(
        name='FrameWeights',
        fields=[
            ('frame', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='weights', serialize=False, to='timemachine.frame')),
            ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.collection')),
            ('number', models.BigIntegerField()),
            ('valid_from', models.DateTimeField()),
            ('valid_until', models.DateTimeField(null=True)),
            ('weights', pgvector.django.sparsevec.SparseVectorField(dimensions=16777216)),
        ],
        options={
            'db_table': 'tm_frame_weights',
            'indexes': [
                models.Index(fields=['collection', 'valid_from'], name='weights_of_collection'),
            ],
        },
    ),
    CreateModel(
        name='TermCount',
        fields=[
            ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.collection')),
            ('term', models.TextField()),
            ('frames', models.BigIntegerField()),
            ('pk', models.CompositePrimaryKey('collection', 'term', blank=True, editable=False, primary_key=True, serialize=False)),
        ],
        options={
            'db_table': 'tm_term_count',
        },
    ),
    CreateModel(
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
            ('cancel_wanted_at', models.DateTimeField(null=True)),
        ],
        options={
            'db_table': 'tm_judgement',
            'indexes': [
                models.Index(fields=['session', 'sequence', 'created_at'], name='judgement_of_step'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('state__in', ('asking', 'done', 'failed', 'lost'))), name='judgement_state_known'),
                models.UniqueConstraint(condition=models.Q(('state', 'asking')), fields=('action', 'model'), name='judgement_asked_once_at_a_time'),
            ],
        },
    ),
    CreateModel(
        name='AskUnderWay',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('question', timemachine.payloads.fields.FaithfulTextField()),
            ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('cancel_wanted_at', models.DateTimeField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ('model', timemachine.payloads.fields.FaithfulTextField(null=True)),
        ],
        options={
            'db_table': 'tm_ask_under_way',
            'indexes': [
                models.Index(fields=['project', 'started_at'], name='ask_under_way_by_project'),
            ],
        },
    ),
    CreateModel(
        name='Source',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('name', timemachine.payloads.fields.FaithfulTextField()),
            ('title', timemachine.payloads.fields.FaithfulTextField(blank=True)),
            ('uri', timemachine.payloads.fields.FaithfulTextField(blank=True)),
            ('media_type', models.CharField(max_length=50)),
            ('sha256', models.CharField(max_length=64)),
            ('put_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='sources', to='timemachine.collection')),
            ('original', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('text', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ('left_out', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list)),
        ],
        options={
            'db_table': 'tm_source',
            'indexes': [
                models.Index(fields=['collection', 'sha256'], name='source_by_content'),
            ],
        },
    ),
    CreateModel(
        name='Intake',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('recorded', models.BooleanField(default=False)),
            ('name', timemachine.payloads.fields.FaithfulTextField()),
            ('title', timemachine.payloads.fields.FaithfulTextField(blank=True)),
            ('uri', timemachine.payloads.fields.FaithfulTextField(blank=True)),
            ('replace', models.BooleanField(default=False)),
            ('put_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('status', models.CharField(default='waiting', max_length=10)),
            ('total', models.BigIntegerField(null=True)),
            ('done', models.BigIntegerField(default=0)),
            ('new', models.BigIntegerField(default=0)),
            ('already_there', models.BigIntegerField(default=0)),
            ('ended', models.BigIntegerField(default=0)),
            ('skipped', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('error_code', models.CharField(max_length=60, null=True)),
            ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('finished_at', models.DateTimeField(null=True)),
            ('lease_token', models.UUIDField(null=True)),
            ('lease_until', models.DateTimeField(null=True)),
            ('attempts', models.IntegerField(default=0)),
            ('rung_at', models.DateTimeField(null=True)),
            ('revision', models.BigIntegerField(default=0)),
            ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='intakes', to='timemachine.collection')),
            ('payload', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to='timemachine.session')),
            ('source', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='intakes', to='timemachine.source')),
            ('dismissed_at', models.DateTimeField(null=True)),
            ('dismissed_by', models.CharField(blank=True, max_length=254)),
        ],
        options={
            'db_table': 'tm_intake',
            'indexes': [
                models.Index(fields=['collection', '-id'], name='intake_newest_first'),
                models.Index(condition=models.Q(('finished_at', None)), fields=['id'], name='intake_open'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('status__in', ('waiting', 'running', 'done', 'failed'))), name='intake_status_known'),
                models.CheckConstraint(condition=models.Q(('done__gte', 0), ('ended__gte', 0)), name='intake_counts_from_0'),
                models.CheckConstraint(condition=models.Q(('dismissed_at', None), ('status', 'failed'), _connector='OR'), name='intake_dismissed_where_failed'),
            ],
        },
    ),
    CreateModel(
        name='ModelAccessChange',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('subject', models.CharField(max_length=40)),
            ('change', models.CharField(max_length=20)),
            ('last_four', models.CharField(blank=True, max_length=4)),
            ('by', models.CharField(max_length=254)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_model_access_change',
            'indexes': [
                models.Index(fields=['project', '-id'], name='model_access_change_newest'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('change__in', ('key_set', 'key_replaced', 'key_removed', 'server_added', 'server_removed'))), name='model_access_change_known'),
            ],
        },
    ),
    CreateModel(
        name='ModelTrial',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('model', models.CharField(max_length=200)),
            ('by', models.CharField(max_length=254)),
            ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('ended_at', models.DateTimeField(null=True)),
            ('error_code', models.CharField(max_length=60, null=True)),
            ('words', models.TextField(blank=True)),
            ('duration_ms', models.FloatField(null=True)),
            ('input_tokens', models.BigIntegerField(null=True)),
            ('output_tokens', models.BigIntegerField(null=True)),
            ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
            ('prices', models.JSONField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_model_trial',
            'indexes': [
                models.Index(fields=['project', '-id'], name='model_trial_newest'),
            ],
        },
    ),
    CreateModel(
        name='ProviderKey',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('provider', models.CharField(max_length=40)),
            ('encrypted_key', models.BinaryField()),
            ('last_four', models.CharField(blank=True, max_length=4)),
            ('default_model', models.CharField(max_length=200, null=True)),
            ('set_by', models.CharField(max_length=254)),
            ('set_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='provider_keys', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_provider_key',
            'constraints': [
                models.UniqueConstraint(fields=('project', 'provider'), name='provider_key_once'),
            ],
        },
    ),
    CreateModel(
        name='BlankFrame',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('model', models.CharField(max_length=200)),
            ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.collection')),
            ('frame', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.frame')),
        ],
        options={
            'db_table': 'tm_blank_frame',
            'constraints': [
                models.UniqueConstraint(fields=('frame', 'model'), name='blank_once'),
            ],
        },
    ),
    CreateModel(
        name='EmbeddingWork',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('model', models.CharField(max_length=200)),
            ('replaces', models.BooleanField(default=False)),
            ('requested_by', models.CharField(blank=True, max_length=254)),
            ('requested_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('lease_token', models.UUIDField(null=True)),
            ('lease_until', models.DateTimeField(null=True)),
            ('failures', models.IntegerField(default=0)),
            ('error_code', models.CharField(max_length=100, null=True)),
            ('error_message', models.TextField(null=True)),
            ('not_before', models.DateTimeField(null=True)),
            ('rung_at', models.DateTimeField(null=True)),
            ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='embedding_work', to='timemachine.collection')),
        ],
        options={
            'db_table': 'tm_embedding_work',
            'constraints': [
                models.UniqueConstraint(fields=('collection', 'model'), name='embedding_work_once'),
                models.UniqueConstraint(condition=models.Q(('replaces', True)), fields=('collection',), name='embedding_replaced_by_one'),
            ],
        },
    ),
    CreateModel(
        name='RefusedFrame',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('model', models.CharField(max_length=200)),
            ('reason', timemachine.payloads.fields.FaithfulTextField()),
            ('refused_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.collection')),
            ('frame', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.frame')),
        ],
        options={
            'db_table': 'tm_refused_frame',
            'constraints': [
                models.UniqueConstraint(fields=('frame', 'model'), name='refused_once'),
            ],
        },
    ),
    CreateModel(
        name='SourcePassage',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('start', models.IntegerField()),
            ('end', models.IntegerField()),
            ('frame', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='places', to='timemachine.frame')),
            ('source', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='passages', to='timemachine.source')),
        ],
        options={
            'db_table': 'tm_source_passage',
            'constraints': [
                models.UniqueConstraint(fields=('source', 'start', 'frame'), name='source_passage_once'),
                models.CheckConstraint(condition=models.Q(('end__gt', models.F('start')), ('start__gte', 0)), name='source_passage_has_length'),
            ],
        },
    ),
    CreateModel(
        name='SourcePut',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('at', models.DateTimeField()),
            ('put_by', models.CharField(max_length=254)),
            ('replaced', models.BooleanField()),
            ('new', models.BigIntegerField()),
            ('kept', models.BigIntegerField()),
            ('ended', models.BigIntegerField()),
            ('source', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='puts', to='timemachine.source')),
        ],
        options={
            'db_table': 'tm_source_put',
            'indexes': [
                models.Index(fields=['at'], name='source_put_at'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('ended__gte', 0), ('kept__gte', 0), ('new__gte', 0)), name='source_put_counts_from_0'),
                models.CheckConstraint(condition=models.Q(('replaced', True), ('ended', 0), _connector='OR'), name='source_put_ends_where_it_replaces'),
            ],
        },
    ),
]
