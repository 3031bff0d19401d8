"""Irrevocable redaction: what is left of a step may be written back, salts of what is gone are dropped, counts are made anew.

In a transaction that says `SET LOCAL timemachine.erasing = 'fields'` some columns of recorded rows may change, and a sealed record
may lose salts; everything else of both stays what it was. Nothing can be deleted in that mode.
"""

from importlib import import_module

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models

counts = import_module("timemachine.migrations.0042_rollup")

OF_ACTION = (
    "client_id", "agent", "name", "tool", "call_id", "parent_id_given", "parent_sequence", "tags", "input_id", "output_id", "source_id",
    "label", "error_type", "error_message", "model", "parameters", "prices", "cached_from", "grounding", "retrieval",
)
OF_HIT = ("frame", "version", "title", "uri", "metadata", "scores", "score", "matched", "sha256", "payload_id")
ONE_ACTION = "(SELECT * FROM tm_action WHERE session_id = wanted)"
ONE_HIT = "(SELECT h.* FROM tm_hit AS h JOIN tm_action AS of ON of.id = h.action_id WHERE of.session_id = wanted)"


def quoted(names):
    return ", ".join(f"'{name}'" for name in names)


ERASING = f"""
CREATE FUNCTION tm_may_only_be_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('timemachine.erasing', true) = 'fields' AND to_jsonb(NEW) - TG_ARGV = to_jsonb(OLD) - TG_ARGV THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only an erasure takes away something of what was recorded.';
END $$;

CREATE FUNCTION tm_may_only_lose_salts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('timemachine.erasing', true) = 'fields' AND OLD.salts @> NEW.salts
       AND (NEW.id, NEW.seal_id, NEW.index, NEW.envelope, NEW.leaf, NEW.row)
           IS NOT DISTINCT FROM (OLD.id, OLD.seal_id, OLD.index, OLD.envelope, OLD.leaf, OLD.row) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only an erasure drops the salt of what it takes away.';
END $$;

DROP TRIGGER append_only ON tm_action;
DROP TRIGGER append_only ON tm_hit;
DROP TRIGGER append_only ON tm_sealed_record;
CREATE TRIGGER append_only BEFORE DELETE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE DELETE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE DELETE ON tm_sealed_record FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER may_only_be_erased BEFORE UPDATE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_may_only_be_erased({quoted(OF_ACTION)});
CREATE TRIGGER may_only_be_erased BEFORE UPDATE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_may_only_be_erased({quoted(OF_HIT)});
CREATE TRIGGER may_only_lose_salts BEFORE UPDATE ON tm_sealed_record FOR EACH ROW EXECUTE FUNCTION tm_may_only_lose_salts();

CREATE FUNCTION tm_count_session_anew(wanted uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tm_usage WHERE session_id = wanted;
    DELETE FROM tm_latency WHERE session_id = wanted;
    DELETE FROM tm_first_use WHERE session_id = wanted;
    {(counts.USAGES + counts.LATENCIES).format(actions=ONE_ACTION) + counts.FIRST_USES.format(hits=ONE_HIT)}
END $$;
"""
NOT_ERASING = """
DROP FUNCTION tm_count_session_anew(uuid);
DROP TRIGGER may_only_lose_salts ON tm_sealed_record;
DROP TRIGGER may_only_be_erased ON tm_hit;
DROP TRIGGER may_only_be_erased ON tm_action;
DROP TRIGGER append_only ON tm_sealed_record;
DROP TRIGGER append_only ON tm_hit;
DROP TRIGGER append_only ON tm_action;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_record FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
DROP FUNCTION tm_may_only_lose_salts();
DROP FUNCTION tm_may_only_be_erased();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0050_seal_comparison'),
    ]

    operations = [
        migrations.AddField(
            model_name='indexedsession',
            name='erasures',
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='sealcheck',
            name='erased',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
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
                'indexes': [models.Index(fields=['session', 'sequence'], name='erased_field_of_step'), models.Index(condition=models.Q(('replay__isnull', False)), fields=['replay'], name='erased_field_of_replay')],
            },
        ),
        migrations.CreateModel(
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
            ],
            options={
                'db_table': 'tm_erasure',
                'indexes': [models.Index(fields=['session', '-id'], name='erasure_newest_first'), models.Index(condition=models.Q(('status__in', ('looking', 'erasing'))), fields=['id'], name='erasure_under_way')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ('looking', 'found', 'erasing', 'done'))), name='erasure_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('status__in', ('erasing', 'done')), _negated=True), models.Q(('confirmed_at__isnull', False), ('confirmed_by__isnull', False), ('reason__isnull', False)), _connector='OR'), name='erasure_has_a_reason')],
            },
        ),
        migrations.RunSQL(ERASING, NOT_ERASING),
    ]
