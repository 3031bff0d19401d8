"""Evidence: signing keys, seals with the envelopes of what they seal, checkpoints, checks, and each project's log.

Envelopes and checkpoints go with the session that they seal, by lawful erasure only; the log never loses a line.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


APPEND_ONLY = """
CREATE FUNCTION tm_refuse_always() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'The log of a project outlives what it speaks of.';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_record FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_seal_checkpoint FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_log_entry FOR EACH ROW EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_log_checkpoint FOR EACH ROW EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_sealed_record FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_seal_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_log_entry FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_always();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_log_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_always();
"""

NOT_APPEND_ONLY = """
DROP TRIGGER never_emptied ON tm_log_checkpoint;
DROP TRIGGER never_emptied ON tm_log_entry;
DROP TRIGGER never_emptied ON tm_seal_checkpoint;
DROP TRIGGER never_emptied ON tm_sealed_record;
DROP TRIGGER append_only ON tm_log_checkpoint;
DROP TRIGGER append_only ON tm_log_entry;
DROP TRIGGER append_only ON tm_seal_checkpoint;
DROP TRIGGER append_only ON tm_sealed_record;
DROP FUNCTION tm_refuse_always();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0047_share_log'),
    ]

    operations = [
        migrations.CreateModel(
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
        migrations.CreateModel(
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
            ],
            options={
                'db_table': 'tm_seal',
            },
        ),
        migrations.CreateModel(
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
            ],
            options={
                'db_table': 'tm_seal_check',
            },
        ),
        migrations.CreateModel(
            name='SealedRecord',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('index', models.BigIntegerField()),
                ('envelope', models.BinaryField()),
                ('leaf', models.BinaryField()),
                ('salts', models.JSONField()),
                ('seal', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='records', to='timemachine.seal')),
            ],
            options={
                'db_table': 'tm_sealed_record',
            },
        ),
        migrations.CreateModel(
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
            },
        ),
        migrations.CreateModel(
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
            ],
            options={
                'db_table': 'tm_seal_checkpoint',
            },
        ),
        migrations.CreateModel(
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
            },
        ),
        migrations.CreateModel(
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
                'constraints': [models.UniqueConstraint(fields=('project', 'index'), name='log_entry_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='seal',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('of', 'session'), ('replay', None), ('session__isnull', False)), models.Q(('of', 'replay'), ('replay__isnull', False), ('session', None)), _connector='OR'), name='seal_of_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='seal',
            constraint=models.UniqueConstraint(condition=models.Q(('session__isnull', False)), fields=('session',), name='seal_of_session_once'),
        ),
        migrations.AddConstraint(
            model_name='seal',
            constraint=models.UniqueConstraint(condition=models.Q(('replay__isnull', False)), fields=('replay', 'generation'), name='seal_of_replay_generation_once'),
        ),
        migrations.AddConstraint(
            model_name='seal',
            constraint=models.CheckConstraint(condition=models.Q(('signed_size__gte', 0), ('size__gte', models.F('signed_size'))), name='seal_signed_as_far_as_it_goes'),
        ),
        migrations.AddIndex(
            model_name='sealcheck',
            index=models.Index(fields=['seal', '-requested_at'], name='seal_check_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='sealedrecord',
            constraint=models.UniqueConstraint(fields=('seal', 'index'), name='sealed_record_once'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.UniqueConstraint(condition=models.Q(('replaced_at', None)), fields=('project',), name='signing_key_in_use_once'),
        ),
        migrations.AddIndex(
            model_name='sealcheckpoint',
            index=models.Index(fields=['seal', 'size'], name='seal_checkpoint_in_order'),
        ),
        migrations.AddConstraint(
            model_name='logcheckpoint',
            constraint=models.UniqueConstraint(fields=('project', 'size', 'key'), name='log_checkpoint_once'),
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
