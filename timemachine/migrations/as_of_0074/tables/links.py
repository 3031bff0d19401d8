"""Links for those who have no account, signing in, and what belongs to a frame or an action."""

import django.db.models.deletion
import django.db.models.functions.datetime
import pgvector.django.halfvec
import timemachine.base.ids
import timemachine.payloads.fields
from django.conf import settings
from django.db import models
from django.db.migrations import CreateModel

TABLES = [
    CreateModel(
        name='ShareLink',
        fields=[
            ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
            ('public_id', models.CharField(max_length=16, unique=True)),
            ('secret_sha256', models.CharField(max_length=64)),
            ('target_type', models.CharField(max_length=12)),
            ('through_sequence', models.BigIntegerField(null=True)),
            ('label', timemachine.payloads.fields.FaithfulTextField(blank=True)),
            ('created_by', models.CharField(max_length=254)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('expires_at', models.DateTimeField()),
            ('revoked_at', models.DateTimeField(null=True)),
            ('revoked_by', models.CharField(max_length=254, null=True)),
            ('max_opens', models.IntegerField(null=True)),
            ('opens', models.IntegerField(default=0)),
            ('last_open_at', models.DateTimeField(null=True)),
            ('passphrase_hash', models.CharField(max_length=200, null=True)),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('replay', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='share_links', to='timemachine.replay')),
            ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='share_links', to='timemachine.session')),
            ('comparison', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='share_links', to='timemachine.comparison')),
            ('evidence_only', models.BooleanField(db_default=False, default=False)),
            ('redaction', models.JSONField(null=True)),
        ],
        options={
            'db_table': 'tm_share_link',
            'indexes': [
                models.Index(fields=['project', '-created_at'], name='share_link_newest_first'),
            ],
            'constraints': [
                models.CheckConstraint(condition=models.Q(('max_opens', None), ('opens__lte', models.F('max_opens')), _connector='OR'), name='share_link_opens_bounded'),
                models.CheckConstraint(condition=models.Q(('max_opens', None), ('max_opens__gte', 1), _connector='OR'), name='share_link_opens_at_least_once'),
                models.CheckConstraint(condition=models.Q(('through_sequence__gte', 1)), name='share_link_shows_a_step'),
                models.CheckConstraint(condition=models.Q(models.Q(('comparison', None), ('replay', None), ('target_type', 'session'), ('session__isnull', False), ('through_sequence__isnull', False)), models.Q(('comparison', None), ('replay__isnull', False), ('target_type', 'replay'), ('session__isnull', False), ('through_sequence__isnull', False)), models.Q(('comparison__isnull', False), ('target_type', 'comparison'), ('replay', None), ('session', None), ('through_sequence', None)), _connector='OR'), name='share_link_target'),
            ],
        },
    ),
    CreateModel(
        name='ShareGrant',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('secret_sha256', models.CharField(max_length=64, unique=True)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('expires_at', models.DateTimeField()),
            ('link', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='grants', to='timemachine.sharelink')),
            ('views', models.IntegerField(db_default=0, default=0)),
            ('views_since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
        ],
        options={
            'db_table': 'tm_share_grant',
        },
    ),
    CreateModel(
        name='ShareMiss',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('origin', models.CharField(max_length=50, null=True)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('public_id', models.CharField(max_length=16, null=True)),
        ],
        options={
            'db_table': 'tm_share_miss',
            'indexes': [
                models.Index(fields=['origin', '-at'], name='share_miss_newest_first'),
                models.Index(fields=['at'], name='share_miss_oldest'),
                models.Index(fields=['public_id', '-at'], name='share_miss_of_a_link'),
            ],
        },
    ),
    CreateModel(
        name='ShareOpening',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('at', models.DateTimeField()),
            ('result', models.CharField(max_length=20)),
            ('address', models.CharField(max_length=50, null=True)),
            ('browser', models.CharField(max_length=100, null=True)),
            ('link', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='openings', to='timemachine.sharelink')),
            ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ('sequence', models.BigIntegerField()),
            ('by', models.CharField(max_length=254, null=True)),
            ('facts', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('previous_sha256', models.CharField(max_length=64)),
            ('sha256', models.CharField(max_length=64)),
        ],
        options={
            'db_table': 'tm_share_opening',
            'constraints': [
                models.UniqueConstraint(condition=models.Q(('link__isnull', False)), fields=('link', 'sequence'), name='share_opening_of_a_link_once'),
                models.UniqueConstraint(condition=models.Q(('link', None)), fields=('project', 'sequence'), name='share_opening_of_a_policy_once'),
                models.CheckConstraint(condition=models.Q(('sequence__gte', 1)), name='share_opening_counts_from_1'),
            ],
        },
    ),
    CreateModel(
        name='SignInAttempt',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('account', models.CharField(max_length=254)),
            ('address', models.GenericIPAddressField(null=True)),
            ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
        ],
        options={
            'db_table': 'tm_sign_in_attempt',
            'indexes': [
                models.Index(fields=['account', 'at'], name='sign_in_attempt_account'),
                models.Index(fields=['address', 'at'], name='sign_in_attempt_address'),
            ],
        },
    ),
    CreateModel(
        name='SignInLink',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('purpose', models.CharField(max_length=10)),
            ('role', models.CharField(max_length=20, null=True)),
            ('secret_sha256', models.CharField(max_length=64, unique=True)),
            ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ('expires_at', models.DateTimeField()),
            ('used_at', models.DateTimeField(null=True)),
            ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='invitations', to='timemachine.project')),
            ('user', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, to=settings.AUTH_USER_MODEL)),
        ],
        options={
            'db_table': 'tm_sign_in_link',
            'constraints': [
                models.CheckConstraint(condition=models.Q(models.Q(('project__isnull', False), ('purpose', 'invite'), ('role__in', ('viewer', 'operator', 'admin')), ('role__isnull', False)), models.Q(('project__isnull', True), ('purpose__in', ('sign_in', 'reset')), ('role__isnull', True)), _connector='OR'), name='sign_in_link_invites_to_a_project'),
            ],
        },
    ),
    CreateModel(
        name='FrameEmbedding',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('model', models.CharField(max_length=200)),
            ('vector', pgvector.django.halfvec.HalfVectorField()),
            ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.collection')),
            ('frame', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='embeddings', to='timemachine.frame')),
        ],
        options={
            'db_table': 'tm_frame_embedding',
            'indexes': [
                models.Index(fields=['collection', 'model'], name='embedding_of_collection'),
            ],
            'constraints': [
                models.UniqueConstraint(fields=('frame', 'model'), name='embedding_once'),
            ],
        },
    ),
    CreateModel(
        name='Hit',
        fields=[
            ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('rank', models.IntegerField()),
            ('score', models.FloatField(null=True)),
            ('scores', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('frame', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('version', models.IntegerField(null=True)),
            ('title', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('uri', timemachine.payloads.fields.FaithfulTextField(null=True)),
            ('metadata', timemachine.payloads.fields.FaithfulJSONField(null=True)),
            ('sha256', models.CharField(max_length=64, null=True)),
            ('action', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='hits', to='timemachine.action')),
            ('stored_frame', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.frame')),
            ('payload', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ('matched', timemachine.payloads.fields.FaithfulJSONField(null=True)),
        ],
        options={
            'db_table': 'tm_hit',
            'constraints': [
                models.UniqueConstraint(fields=('action', 'rank'), name='hit_rank_once'),
            ],
        },
    ),
]
