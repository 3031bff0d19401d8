"""Redaction profiles, evidence, erasures, and files and traces that come from outside."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import models
from django.db.migrations import CreateModel

TABLES = [
    CreateModel(
        name='RedactionProfile',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('name', models.CharField(max_length=100)),
            ('version', models.IntegerField()),
            ('rules', models.JSONField()),
            ('created_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('retired_at', models.DateTimeField(null=True)),
            ('retired_by', models.CharField(max_length=254, null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_redaction_profile',
            'constraints': [
                models.UniqueConstraint(fields=('project', 'name', 'version'), name='redaction_profile_version_once'),
                models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='redaction_profile_counted_from_one'),
                models.CheckConstraint(condition=models.Q(models.Q(('retired_at', None), ('retired_by', None)), models.Q(('retired_at__isnull', False), ('retired_by__isnull', False)), _connector='OR'), name='redaction_profile_retired_by_somebody'),
            ],
        },
    ),
    CreateModel(
        name='SharePolicy',
        fields=[
            ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='share_policy', serialize=False, to='timemachine.project')),
            ('forbidden', models.BooleanField(default=False)),
            ('passphrase_required', models.BooleanField(default=False)),
            ('longest_days', models.IntegerField(null=True)),
            ('profile_required', models.BooleanField(db_default=False, default=False)),
        ],
        options={
            'db_table': 'tm_share_policy',
            'constraints': [
                models.CheckConstraint(condition=models.Q(('longest_days', None), models.Q(('longest_days__gte', 1), ('longest_days__lte', 366)), _connector='OR'), name='share_policy_days_in_bounds'),
            ],
        },
    ),
    CreateModel(
        name='EvidenceLog',
        fields=[
            ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.project')),
            ('size', models.BigIntegerField(default=0)),
            ('peaks', django.contrib.postgres.fields.ArrayField(base_field=models.BinaryField(), default=list)),
            ('last_leaf', models.BinaryField(default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00')),
        ],
        options={
            'db_table': 'tm_evidence_log',
        },
    ),
    CreateModel(
        name='Seal',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('of', models.CharField(max_length=12)),
            ('generation', models.IntegerField(default=1)),
            ('run_ended_at', models.DateTimeField(null=True)),
            ('size', models.BigIntegerField(default=0)),
            ('peaks', django.contrib.postgres.fields.ArrayField(base_field=models.BinaryField(), default=list)),
            ('last_leaf', models.BinaryField(default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00')),
            ('signed_size', models.BigIntegerField(default=0)),
            ('signed_at', models.DateTimeField(null=True)),
            ('state', models.CharField(default='open', max_length=6)),
            ('problem', models.TextField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('replay', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='seals', to='timemachine.replay')),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='seals', to='timemachine.session')),
            ('comparison', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='seals', to='timemachine.comparison')),
        ],
        options={
            'db_table': 'tm_seal',
            'constraints': [
                models.UniqueConstraint(condition=models.Q(('session__isnull', False)), fields=('session',), name='seal_of_session_once'),
                models.UniqueConstraint(condition=models.Q(('replay__isnull', False)), fields=('replay', 'generation'), name='seal_of_replay_generation_once'),
                models.CheckConstraint(condition=models.Q(('signed_size__gte', 0), ('size__gte', models.F('signed_size'))), name='seal_signed_as_far_as_it_goes'),
                models.CheckConstraint(condition=models.Q(models.Q(('comparison', None), ('of', 'session'), ('replay', None), ('session__isnull', False)), models.Q(('comparison', None), ('of', 'replay'), ('replay__isnull', False), ('session', None)), models.Q(('comparison__isnull', False), ('of', 'comparison'), ('replay', None), ('session', None)), _connector='OR'), name='seal_of_one_thing'),
                models.UniqueConstraint(condition=models.Q(('comparison__isnull', False)), fields=('comparison', 'generation'), name='seal_of_comparison_generation_once'),
            ],
        },
    ),
    CreateModel(
        name='SealCheck',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('requested_by', models.CharField(max_length=254, null=True)),
            ('requested_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('started_at', models.DateTimeField(null=True)),
            ('finished_at', models.DateTimeField(null=True)),
            ('records', models.BigIntegerField(default=0)),
            ('problems', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('seal', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='checks', to='timemachine.seal')),
            ('erased', models.BigIntegerField(db_default=0, default=0)),
            ('recorded', models.BigIntegerField(db_default=0, default=0)),
        ],
        options={
            'db_table': 'tm_seal_check',
            'indexes': [
                models.Index(fields=['seal', '-requested_at'], name='seal_check_newest_first'),
            ],
        },
    ),
    CreateModel(
        name='SealedRecord',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('index', models.BigIntegerField()),
            ('envelope', models.BinaryField()),
            ('leaf', models.BinaryField()),
            ('salts', models.JSONField()),
            ('seal', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='records', to='timemachine.seal')),
            ('row', models.CharField(max_length=60, null=True)),
        ],
        options={
            'db_table': 'tm_sealed_record',
            'constraints': [
                models.UniqueConstraint(fields=('seal', 'index'), name='sealed_record_once'),
                models.UniqueConstraint(condition=models.Q(('row__isnull', False)), fields=('seal', 'row'), name='sealed_record_of_a_row_once'),
            ],
        },
    ),
    CreateModel(
        name='SigningKey',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('fingerprint', models.CharField(max_length=80, unique=True)),
            ('public_key', models.BinaryField()),
            ('private_key', models.BinaryField()),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('created_by', models.CharField(max_length=254, null=True)),
            ('replaced_at', models.DateTimeField(null=True)),
            ('replaced_by', models.CharField(max_length=254, null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_signing_key',
            'constraints': [
                models.UniqueConstraint(condition=models.Q(('replaced_at', None)), fields=('project',), name='signing_key_in_use_once'),
            ],
        },
    ),
    CreateModel(
        name='SealCheckpoint',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('size', models.BigIntegerField()),
            ('root', models.BinaryField()),
            ('state', models.CharField(max_length=6)),
            ('signed', models.TextField()),
            ('at', models.DateTimeField()),
            ('log_index', models.BigIntegerField()),
            ('seal', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='checkpoints', to='timemachine.seal')),
            ('key', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.signingkey')),
            ('cut_for', models.CharField(max_length=80, null=True)),
        ],
        options={
            'db_table': 'tm_seal_checkpoint',
            'indexes': [
                models.Index(fields=['seal', 'size'], name='seal_checkpoint_in_order'),
            ],
        },
    ),
    CreateModel(
        name='LogCheckpoint',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('size', models.BigIntegerField()),
            ('root', models.BinaryField()),
            ('signed', models.TextField()),
            ('at', models.DateTimeField()),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ('key', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.signingkey')),
        ],
        options={
            'db_table': 'tm_log_checkpoint',
            'constraints': [
                models.UniqueConstraint(fields=('project', 'size', 'key'), name='log_checkpoint_once'),
            ],
        },
    ),
    CreateModel(
        name='LogEntry',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('index', models.BigIntegerField()),
            ('entry', models.BinaryField()),
            ('leaf', models.BinaryField()),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_log_entry',
            'constraints': [
                models.UniqueConstraint(fields=('project', 'index'), name='log_entry_once'),
            ],
        },
    ),
    CreateModel(
        name='SealedResults',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('form', models.IntegerField()),
            ('content', models.TextField()),
            ('seal', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='results', to='timemachine.seal')),
        ],
        options={
            'db_table': 'tm_sealed_results',
            'constraints': [
                models.UniqueConstraint(fields=('seal', 'form'), name='sealed_results_once'),
            ],
        },
    ),
    CreateModel(
        name='ErasedField',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('sequence', models.BigIntegerField()),
            ('index', models.BigIntegerField()),
            ('field', models.CharField(max_length=40)),
            ('commitment', models.CharField(max_length=64, null=True)),
            ('log_index', models.BigIntegerField()),
            ('erased_at', models.DateTimeField()),
            ('erased_by', models.CharField(max_length=254)),
            ('reason', timemachine.payloads.fields.FaithfulTextField()),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('replay', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='erased_fields', to='timemachine.replay')),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='erased_fields', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_erased_field',
            'indexes': [
                models.Index(fields=['session', 'sequence'], name='erased_field_of_step'),
                models.Index(condition=models.Q(('replay__isnull', False)), fields=['replay'], name='erased_field_of_replay'),
            ],
        },
    ),
    CreateModel(
        name='Erasure',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('profile', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('fields', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('steps', timemachine.payloads.fields.FaithfulJSONField(default=list)),
            ('status', models.CharField(default='looking', max_length=10)),
            ('preview', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('result', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('problem', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('reason', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('requested_by', models.CharField(max_length=254)),
            ('requested_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('confirmed_by', models.CharField(max_length=254, null=True)),
            ('confirmed_at', models.DateTimeField(null=True)),
            ('started_at', models.DateTimeField(null=True)),
            ('finished_at', models.DateTimeField(null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='erasures', to='timemachine.session')),
            ('turn', models.BooleanField(db_default=False, default=False)),
        ],
        options={
            'db_table': 'tm_erasure',
            'indexes': [
                models.Index(fields=['session', '-id'], name='erasure_newest_first'),
                models.Index(condition=models.Q(('status__in', ('looking', 'erasing'))), fields=['id'], name='erasure_under_way'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('status__in', ('looking', 'found', 'erasing', 'done'))), name='erasure_status_known'),
                models.CheckConstraint(condition=models.Q(models.Q(('status__in', ('erasing', 'done')), _negated=True), models.Q(('confirmed_at__isnull', False), ('confirmed_by__isnull', False), ('reason__isnull', False)), _connector='OR'), name='erasure_has_a_reason'),
            ],
        },
    ),
    CreateModel(
        name='Anchored',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('kind', models.CharField(max_length=10)),
            ('url', models.CharField(max_length=500)),
            ('sent', models.BinaryField()),
            ('answer', models.BinaryField()),
            ('at', models.DateTimeField()),
            ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='anchored', to='timemachine.logcheckpoint')),
        ],
        options={
            'db_table': 'tm_anchored',
        },
    ),
    CreateModel(
        name='Anchor',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('kind', models.CharField(max_length=10)),
            ('url', models.CharField(max_length=500)),
            ('set_by', models.CharField(max_length=254)),
            ('set_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('size', models.BigIntegerField(default=0)),
            ('taken_at', models.DateTimeField(null=True)),
            ('error', models.TextField(null=True)),
            ('failed_at', models.DateTimeField(null=True)),
            ('attempts', models.IntegerField(default=0)),
            ('next_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_anchor',
            'constraints': [
                models.UniqueConstraint(fields=('project', 'kind'), name='anchor_of_a_kind_once'),
                models.CheckConstraint(condition=models.Q(('kind__in', ('witness', 'timestamp'))), name='anchor_kind_known'),
            ],
        },
    ),
    CreateModel(
        name='AccessHead',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('chain', models.CharField(max_length=60, unique=True)),
            ('lines', models.BigIntegerField()),
            ('sha256', models.CharField(max_length=64)),
            ('comparison', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.comparison')),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_access_head',
        },
    ),
    CreateModel(
        name='Trace',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('trace', models.CharField(max_length=32)),
            ('own', models.BooleanField(default=True)),
            ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='traces', to='timemachine.session')),
        ],
        options={
            'db_table': 'tm_trace',
            'constraints': [
                models.UniqueConstraint(fields=('project', 'trace'), name='trace_once'),
            ],
        },
    ),
    CreateModel(
        name='FileImport',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('name', timemachine.payloads.fields.FaithfulTextField()),
            ('format', models.CharField(max_length=30)),
            ('data', models.BinaryField()),
            ('size', models.BigIntegerField()),
            ('put_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('status', models.CharField(default='waiting', max_length=10)),
            ('total', models.BigIntegerField(null=True)),
            ('done', models.BigIntegerField(default=0)),
            ('sessions', models.JSONField(default=list)),
            ('report', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('error_code', models.CharField(max_length=60, null=True)),
            ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('finished_at', models.DateTimeField(null=True)),
            ('lease_token', models.UUIDField(null=True)),
            ('lease_until', models.DateTimeField(null=True)),
            ('attempts', models.IntegerField(default=0)),
            ('rung_at', models.DateTimeField(null=True)),
            ('revision', models.BigIntegerField(default=0)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_file_import',
            'indexes': [
                models.Index(condition=models.Q(('finished_at', None)), fields=['id'], name='file_import_open'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('status__in', ('waiting', 'running', 'done', 'failed'))), name='file_import_status_known'),
                models.CheckConstraint(condition=models.Q(('finished_at', None), ('data', b''), _connector='OR'), name='file_import_keeps_no_file_when_over'),
            ],
        },
    ),
    CreateModel(
        name='EarlierSeal',
        fields=[
            ('id', models.BigAutoField(primary_key=True, serialize=False)),
            ('generation', models.IntegerField()),
            ('states', models.JSONField()),
            ('log_index', models.BigIntegerField()),
            ('replaced_at', models.DateTimeField()),
            ('replaced_by', models.CharField(max_length=254, null=True)),
            ('reason', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('fields', models.BigIntegerField(null=True)),
            ('comparison', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='earlier_seals', to='timemachine.comparison')),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
        ],
        options={
            'db_table': 'tm_earlier_seal',
            'constraints': [
                models.UniqueConstraint(fields=('comparison', 'generation'), name='earlier_seal_once'),
            ],
        },
    ),
]
