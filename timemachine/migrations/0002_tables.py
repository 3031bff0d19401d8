import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import pgvector.django.halfvec
import pgvector.django.sparsevec
import timemachine.base.ids
import timemachine.payloads.fields
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('timemachine', '0001_functions'),
    ]

    operations = [
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('embedding_model', models.CharField(max_length=200)),
                ('next_number', models.BigIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.CharField(max_length=254)),
            ],
            options={
                'db_table': 'tm_collection',
            },
        ),
        migrations.CreateModel(
            name='Payload',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('sha256', models.CharField(max_length=64)),
                ('media_type', models.CharField(max_length=20)),
                ('data', models.BinaryField()),
                ('size', models.GeneratedField(db_persist=True, expression=django.db.models.functions.text.Length('data'), output_field=models.BigIntegerField())),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'tm_payload',
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'tm_project',
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('email', models.EmailField(max_length=254, unique=True)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'tm_user',
                'constraints': [models.CheckConstraint(condition=models.Q(('email', django.db.models.functions.text.Lower('email'))), name='user_email_lower_case')],
            },
        ),
        migrations.CreateModel(
            name='Frame',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('number', models.BigIntegerField()),
                ('version', models.IntegerField()),
                ('title', timemachine.payloads.fields.FaithfulTextField(blank=True)),
                ('uri', timemachine.payloads.fields.FaithfulTextField(blank=True)),
                ('metadata', timemachine.payloads.fields.FaithfulJSONField(default=dict)),
                ('sha256', models.CharField(max_length=64)),
                ('search_title', models.TextField()),
                ('search_text', models.TextField()),
                ('valid_from', models.DateTimeField()),
                ('valid_until', models.DateTimeField(null=True)),
                ('ended_by', models.CharField(max_length=10, null=True)),
                ('put_by', models.CharField(max_length=254)),
                ('terms', models.GeneratedField(db_persist=True, expression=models.Func(models.F('search_title'), models.F('search_text'), function='tm_frame_terms'), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('weights', models.GeneratedField(db_persist=True, expression=models.Func(models.Func(models.F('search_title'), models.F('search_text'), function='tm_frame_terms'), function='tm_bm25_weights'), output_field=pgvector.django.sparsevec.SparseVectorField(dimensions=16777216))),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='frames', to='timemachine.collection')),
                ('payload', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_frame',
            },
        ),
        migrations.AddField(
            model_name='payload',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project'),
        ),
        migrations.CreateModel(
            name='ModelServer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('base_url', models.CharField(max_length=500)),
                ('encrypted_key', models.BinaryField(null=True)),
                ('default_model', models.CharField(max_length=200, null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='model_servers', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_model_server',
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(max_length=20)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='memberships', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_membership',
            },
        ),
        migrations.AddField(
            model_name='collection',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project'),
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=10))),
                ('secret_sha256', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='api_keys', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_api_key',
            },
        ),
        migrations.CreateModel(
            name='Action',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('sequence', models.BigIntegerField()),
                ('client_id', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('kind', models.CharField(max_length=12)),
                ('layer', models.CharField(max_length=10, null=True)),
                ('role', models.CharField(max_length=10, null=True)),
                ('agent', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('name', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('tool', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('call_id', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('parent_id_given', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('parent_sequence', models.BigIntegerField(null=True)),
                ('significance', models.CharField(max_length=12, null=True)),
                ('importance', models.FloatField(null=True)),
                ('iteration', models.BigIntegerField(null=True)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=timemachine.payloads.fields.FaithfulTextField(), default=list)),
                ('started_at', models.DateTimeField(null=True)),
                ('recorded_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('duration_ms', models.FloatField(null=True)),
                ('label', timemachine.payloads.fields.FaithfulTextField(blank=True)),
                ('error_type', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('model', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('parameters', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('input_tokens', models.BigIntegerField(null=True)),
                ('output_tokens', models.BigIntegerField(null=True)),
                ('total_tokens', models.BigIntegerField(null=True)),
                ('cached_tokens', models.BigIntegerField(null=True)),
                ('cache_write_tokens', models.BigIntegerField(null=True)),
                ('reasoning_tokens', models.BigIntegerField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ('prices', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('cached', models.BooleanField(null=True)),
                ('saved_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ('grounding', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('retrieval', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('input', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('output', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('source', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_action',
            },
        ),
        migrations.CreateModel(
            name='Replay',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=10)),
                ('status', models.CharField(default='queued', max_length=10)),
                ('model', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('options', timemachine.payloads.fields.FaithfulJSONField(default=dict)),
                ('reason', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('requested_by', models.CharField(max_length=254)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('cancel_requested_at', models.DateTimeField(null=True)),
                ('rung_at', models.DateTimeField(null=True)),
                ('revision', models.BigIntegerField(default=0)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_replay',
            },
        ),
        migrations.CreateModel(
            name='ReplayStep',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('sequence', models.BigIntegerField()),
                ('kind', models.CharField(max_length=12)),
                ('status', models.CharField(default='waiting', max_length=10)),
                ('attempts_made', models.IntegerField(default=0)),
                ('lease_token', models.UUIDField(null=True)),
                ('lease_until', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('context', models.CharField(max_length=12, null=True)),
                ('frames', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('retrieval', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('verdict', models.CharField(max_length=20, null=True)),
                ('evidence', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('model', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('parameters', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('duration_ms', models.FloatField(null=True)),
                ('input_tokens', models.BigIntegerField(null=True)),
                ('output_tokens', models.BigIntegerField(null=True)),
                ('total_tokens', models.BigIntegerField(null=True)),
                ('cached_tokens', models.BigIntegerField(null=True)),
                ('cache_write_tokens', models.BigIntegerField(null=True)),
                ('reasoning_tokens', models.BigIntegerField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ('prices', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('grounding', timemachine.payloads.fields.FaithfulJSONField(null=True)),
                ('error_type', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('action', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.action')),
                ('output', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('replay', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='steps', to='timemachine.replay')),
            ],
            options={
                'db_table': 'tm_replay_step',
            },
        ),
        migrations.CreateModel(
            name='ReplayHit',
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
                ('payload', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
                ('stored_frame', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.frame')),
                ('step', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='hits', to='timemachine.replaystep')),
            ],
            options={
                'db_table': 'tm_replay_hit',
            },
        ),
        migrations.CreateModel(
            name='ReplayAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField()),
                ('lease_token', models.UUIDField()),
                ('worker', models.CharField(max_length=200)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('call_intended_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(max_length=10, null=True)),
                ('calls_made', models.IntegerField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=15, max_digits=30, null=True)),
                ('error_message', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('step', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='attempts', to='timemachine.replaystep')),
            ],
            options={
                'db_table': 'tm_replay_attempt',
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=200)),
                ('name', timemachine.payloads.fields.FaithfulTextField()),
                ('agent', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('user', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('status', models.CharField(default='recording', max_length=10)),
                ('parent_sequence', models.BigIntegerField(null=True)),
                ('metadata', timemachine.payloads.fields.FaithfulJSONField(default=dict)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=timemachine.payloads.fields.FaithfulTextField(), default=list)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.CharField(max_length=254)),
                ('started_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('imported_as', models.CharField(max_length=30, null=True)),
                ('last_sequence', models.BigIntegerField(default=0)),
                ('error_count', models.BigIntegerField(default=0)),
                ('input_tokens', models.BigIntegerField(default=0)),
                ('output_tokens', models.BigIntegerField(default=0)),
                ('cost_usd', models.DecimalField(decimal_places=15, default=0, max_digits=30)),
                ('unknown_cost_calls', models.BigIntegerField(default=0)),
                ('last_action_at', models.DateTimeField(null=True)),
                ('collection', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.collection')),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='branches', to='timemachine.session')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_session',
            },
        ),
        migrations.AddField(
            model_name='replay',
            name='session',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='replays', to='timemachine.session'),
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', timemachine.payloads.fields.FaithfulTextField()),
                ('request_sha256', models.CharField(max_length=64)),
                ('sequences', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField())),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_delivery',
            },
        ),
        migrations.AddField(
            model_name='action',
            name='session',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='actions', to='timemachine.session'),
        ),
        migrations.CreateModel(
            name='ShareLink',
            fields=[
                ('id', models.UUIDField(default=timemachine.base.ids.uuid7, primary_key=True, serialize=False)),
                ('public_id', models.CharField(max_length=16, unique=True)),
                ('secret_sha256', models.CharField(max_length=64)),
                ('target_type', models.CharField(max_length=12)),
                ('through_sequence', models.BigIntegerField()),
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
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='share_links', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_share_link',
            },
        ),
        migrations.CreateModel(
            name='ShareGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('secret_sha256', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='grants', to='timemachine.sharelink')),
            ],
            options={
                'db_table': 'tm_share_grant',
            },
        ),
        migrations.CreateModel(
            name='ShareMiss',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('origin', models.CharField(max_length=50)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'tm_share_miss',
                'indexes': [models.Index(fields=['origin', '-at'], name='share_miss_newest_first'), models.Index(fields=['at'], name='share_miss_oldest')],
            },
        ),
        migrations.CreateModel(
            name='ShareOpening',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('result', models.CharField(max_length=20)),
                ('address', models.CharField(max_length=50, null=True)),
                ('browser', models.CharField(max_length=100, null=True)),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='openings', to='timemachine.sharelink')),
            ],
            options={
                'db_table': 'tm_share_opening',
            },
        ),
        migrations.CreateModel(
            name='SignInAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.CharField(max_length=254)),
                ('address', models.GenericIPAddressField(null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'tm_sign_in_attempt',
                'indexes': [models.Index(fields=['account', 'at'], name='sign_in_attempt_account'), models.Index(fields=['address', 'at'], name='sign_in_attempt_address')],
            },
        ),
        migrations.CreateModel(
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
            },
        ),
        migrations.CreateModel(
            name='FrameEmbedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=200)),
                ('vector', pgvector.django.halfvec.HalfVectorField()),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.collection')),
                ('frame', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='embeddings', to='timemachine.frame')),
            ],
            options={
                'db_table': 'tm_frame_embedding',
                'indexes': [models.Index(fields=['collection', 'model'], name='embedding_of_collection')],
                'constraints': [models.UniqueConstraint(fields=('frame', 'model'), name='embedding_once')],
            },
        ),
        migrations.CreateModel(
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
                ('action', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='hits', to='timemachine.action')),
                ('stored_frame', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.frame')),
                ('payload', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.payload')),
            ],
            options={
                'db_table': 'tm_hit',
                'constraints': [models.UniqueConstraint(fields=('action', 'rank'), name='hit_rank_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='payload',
            constraint=models.UniqueConstraint(fields=('project', 'sha256', 'media_type'), name='payload_once'),
        ),
        migrations.AddConstraint(
            model_name='modelserver',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='model_server_name_once'),
        ),
        migrations.AddConstraint(
            model_name='modelserver',
            constraint=models.CheckConstraint(condition=models.Q(('name__regex', '^[a-z0-9]+(-[a-z0-9]+)*$')), name='model_server_name_slug'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('project', 'user'), name='membership_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ('viewer', 'operator', 'admin'))), name='membership_role_known'),
        ),
        migrations.AddIndex(
            model_name='frame',
            index=models.Index(fields=['collection', 'valid_from'], name='frame_of_collection'),
        ),
        migrations.AddIndex(
            model_name='frame',
            index=models.Index(fields=['collection', 'sha256'], name='frame_by_content'),
        ),
        migrations.AddIndex(
            model_name='frame',
            index=django.contrib.postgres.indexes.GinIndex(fields=['terms'], name='frame_terms'),
        ),
        migrations.AddConstraint(
            model_name='frame',
            constraint=models.UniqueConstraint(fields=('collection', 'number', 'version'), name='frame_version_once'),
        ),
        migrations.AddConstraint(
            model_name='frame',
            constraint=models.UniqueConstraint(condition=models.Q(('valid_until', None)), fields=('collection', 'number'), name='frame_current_once'),
        ),
        migrations.AddConstraint(
            model_name='frame',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 0), ('version__gte', 1)), name='frame_counts_from'),
        ),
        migrations.AddConstraint(
            model_name='frame',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_by', None), ('valid_until', None)), models.Q(('ended_by__in', ('update', 'delete')), ('valid_until__isnull', False)), _connector='OR'), name='frame_end_has_cause'),
        ),
        migrations.AddConstraint(
            model_name='collection',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='collection_name_once'),
        ),
        migrations.AddIndex(
            model_name='replaystep',
            index=models.Index(condition=models.Q(('status__in', ('waiting', 'running', 'uncertain'))), fields=['replay', 'sequence'], name='replay_step_open'),
        ),
        migrations.AddConstraint(
            model_name='replaystep',
            constraint=models.UniqueConstraint(fields=('replay', 'sequence'), name='replay_step_once'),
        ),
        migrations.AddConstraint(
            model_name='replaystep',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('waiting', 'running', 'done', 'failed', 'skipped', 'cancelled', 'uncertain'))), name='replay_step_status_known'),
        ),
        migrations.AddConstraint(
            model_name='replaystep',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'running'), _negated=True), models.Q(('lease_token__isnull', False), ('lease_until__isnull', False)), _connector='OR'), name='replay_step_running_is_leased'),
        ),
        migrations.AddConstraint(
            model_name='replayhit',
            constraint=models.UniqueConstraint(fields=('step', 'rank'), name='replay_hit_rank_once'),
        ),
        migrations.AddConstraint(
            model_name='replayattempt',
            constraint=models.UniqueConstraint(fields=('step', 'number'), name='replay_attempt_once'),
        ),
        migrations.AddConstraint(
            model_name='replayattempt',
            constraint=models.CheckConstraint(condition=models.Q(('outcome', None), ('outcome__in', ('done', 'failed', 'lost', 'cancelled')), _connector='OR'), name='replay_attempt_outcome_known'),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(fields=['project', '-started_at', '-id'], name='session_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='session',
            constraint=models.UniqueConstraint(fields=('project', 'key'), name='session_key_once'),
        ),
        migrations.AddConstraint(
            model_name='session',
            constraint=models.CheckConstraint(condition=models.Q(('key__regex', '^[A-Za-z0-9._:@-]{1,200}$')), name='session_key_form'),
        ),
        migrations.AddConstraint(
            model_name='session',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('recording', 'ended'))), name='session_status_known'),
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(fields=['session', '-created_at'], name='replay_of_session'),
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['created_at'], name='replay_unfinished'),
        ),
        migrations.AddConstraint(
            model_name='replay',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('audit', 'debug'))), name='replay_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='replay',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('queued', 'running', 'done', 'failed', 'cancelled'))), name='replay_status_known'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('session', 'key'), name='delivery_once'),
        ),
        migrations.AddIndex(
            model_name='action',
            index=models.Index(fields=['session', 'kind', 'sequence'], name='action_of_kind'),
        ),
        migrations.AddIndex(
            model_name='action',
            index=models.Index(condition=models.Q(('parent_sequence__isnull', False)), fields=['session', 'parent_sequence'], name='action_children_by_seq'),
        ),
        migrations.AddIndex(
            model_name='action',
            index=models.Index(condition=models.Q(('parent_id_given__isnull', False)), fields=['session', 'parent_id_given'], name='action_children_by_id'),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.UniqueConstraint(fields=('session', 'sequence'), name='action_sequence_once'),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.UniqueConstraint(condition=models.Q(('client_id__isnull', False)), fields=('session', 'client_id'), name='action_client_id_once'),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.CheckConstraint(condition=models.Q(('sequence__gte', 1)), name='action_sequence_from_1'),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('put', 'find', 'ask', 'llm_call', 'tool_call', 'tool_result', 'memory_op', 'message', 'event', 'checkpoint'))), name='action_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.CheckConstraint(condition=models.Q(('layer', None), ('layer__in', ('agent', 'tool', 'sys')), _connector='OR'), name='action_layer_known'),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.CheckConstraint(condition=models.Q(('role', None), ('role__in', ('user', 'agent', 'system', 'tool')), _connector='OR'), name='action_role_known'),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.CheckConstraint(condition=models.Q(('significance', None), ('significance__in', ('normal', 'hypothesis', 'error', 'decision', 'solution', 'breakthrough')), _connector='OR'), name='action_significance_known'),
        ),
        migrations.AddIndex(
            model_name='sharelink',
            index=models.Index(fields=['project', '-created_at'], name='share_link_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='sharelink',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('replay', None), ('target_type', 'session')), models.Q(('replay__isnull', False), ('target_type', 'replay')), _connector='OR'), name='share_link_target'),
        ),
        migrations.AddConstraint(
            model_name='sharelink',
            constraint=models.CheckConstraint(condition=models.Q(('max_opens', None), ('opens__lte', models.F('max_opens')), _connector='OR'), name='share_link_opens_bounded'),
        ),
        migrations.AddConstraint(
            model_name='sharelink',
            constraint=models.CheckConstraint(condition=models.Q(('max_opens', None), ('max_opens__gte', 1), _connector='OR'), name='share_link_opens_at_least_once'),
        ),
        migrations.AddConstraint(
            model_name='sharelink',
            constraint=models.CheckConstraint(condition=models.Q(('through_sequence__gte', 1)), name='share_link_shows_a_step'),
        ),
        migrations.AddIndex(
            model_name='shareopening',
            index=models.Index(fields=['link', '-at'], name='share_opening_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='signinlink',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('project__isnull', False), ('purpose', 'invite'), ('role__in', ('viewer', 'operator', 'admin')), ('role__isnull', False)), models.Q(('project__isnull', True), ('purpose__in', ('sign_in', 'reset')), ('role__isnull', True)), _connector='OR'), name='sign_in_link_invites_to_a_project'),
        ),
    ]
