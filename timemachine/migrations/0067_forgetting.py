"""Legal holds that the database keeps: nothing of a held session is deleted, and nothing of it erased, by whatever way.

Beside them deletions in bulk, retention rules, and what is remembered of deleted sessions and steps.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


HELD = """
CREATE FUNCTION tm_refuse_held(session uuid, told text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tm_held_session AS h WHERE h.session_id = session AND h.released_at IS NULL) THEN
        RAISE EXCEPTION 'the session % is under legal hold: % is refused', session, told
            USING ERRCODE = 'restrict_violation', HINT = 'An administrator releases the hold first.';
    END IF;
END $$;

CREATE FUNCTION tm_session_not_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_refuse_held(OLD.id, TG_OP || ' of ' || TG_TABLE_NAME);
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE FUNCTION tm_row_not_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_refuse_held(OLD.session_id, TG_OP || ' of ' || TG_TABLE_NAME);
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE FUNCTION tm_hit_not_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tm_refuse_held(a.session_id, TG_OP || ' of ' || TG_TABLE_NAME) FROM tm_action AS a WHERE a.id = OLD.action_id;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER not_held BEFORE DELETE ON tm_session FOR EACH ROW EXECUTE FUNCTION tm_session_not_held();
CREATE TRIGGER not_held_of_erasing BEFORE UPDATE ON tm_session FOR EACH ROW
    WHEN (current_setting('timemachine.erasing', true) = 'fields') EXECUTE FUNCTION tm_session_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_action FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_hit FOR EACH ROW EXECUTE FUNCTION tm_hit_not_held();
CREATE TRIGGER not_held BEFORE DELETE ON tm_replay FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE DELETE OR UPDATE ON tm_note FOR EACH ROW EXECUTE FUNCTION tm_row_not_held();
CREATE TRIGGER not_held BEFORE UPDATE ON tm_erasure FOR EACH ROW WHEN (NEW.status IN ('erasing', 'done'))
    EXECUTE FUNCTION tm_row_not_held();
"""
NOT_HELD = """
DROP TRIGGER not_held ON tm_erasure;
DROP TRIGGER not_held ON tm_note;
DROP TRIGGER not_held ON tm_replay;
DROP TRIGGER not_held ON tm_hit;
DROP TRIGGER not_held ON tm_action;
DROP TRIGGER not_held_of_erasing ON tm_session;
DROP TRIGGER not_held ON tm_session;
DROP FUNCTION tm_hit_not_held();
DROP FUNCTION tm_row_not_held();
DROP FUNCTION tm_session_not_held();
DROP FUNCTION tm_refuse_held(uuid, text);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0066_patterns'),
    ]

    operations = [
        migrations.AddField(
            model_name='erasure',
            name='turn',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
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
            },
        ),
        migrations.CreateModel(
            name='HeldSession',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('released_at', models.DateTimeField(null=True)),
                ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
                ('hold', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='held', to='timemachine.hold')),
            ],
            options={
                'db_table': 'tm_held_session',
            },
        ),
        migrations.CreateModel(
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
            },
        ),
        migrations.CreateModel(
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
            },
        ),
        migrations.CreateModel(
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
            ],
            options={
                'db_table': 'tm_erased_session',
                'indexes': [models.Index(fields=['project', 'key_mark'], name='erased_session_by_key')],
            },
        ),
        migrations.CreateModel(
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
                'constraints': [models.UniqueConstraint(fields=('session', 'sequence'), name='erased_turn_once')],
            },
        ),
        migrations.CreateModel(
            name='ForgottenSession',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('session', models.UUIDField()),
                ('turns', models.BigIntegerField()),
                ('state', models.CharField(default='waiting', max_length=10)),
                ('problem', timemachine.payloads.fields.FaithfulTextField(null=True)),
                ('forgetting', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='sessions', to='timemachine.forgetting')),
            ],
            options={
                'db_table': 'tm_forgotten_session',
                'indexes': [models.Index(fields=['forgetting', 'state', 'id'], name='forgotten_session_in_order')],
                'constraints': [models.UniqueConstraint(fields=('forgetting', 'session'), name='forgotten_session_once'), models.CheckConstraint(condition=models.Q(('state__in', ('waiting', 'erased', 'held', 'changed', 'gone', 'failed'))), name='forgotten_session_state_known')],
            },
        ),
        migrations.AddIndex(
            model_name='hold',
            index=models.Index(fields=['project', '-id'], name='hold_newest_first'),
        ),
        migrations.AddConstraint(
            model_name='hold',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('release_reason', None), ('released_at', None), ('released_by', None)), models.Q(('release_reason__isnull', False), ('released_at__isnull', False), ('released_by__isnull', False)), _connector='OR'), name='hold_released_for_a_reason'),
        ),
        migrations.AddIndex(
            model_name='heldsession',
            index=models.Index(fields=['session'], name='held_session_of'),
        ),
        migrations.AddIndex(
            model_name='heldsession',
            index=models.Index(condition=models.Q(('released_at', None)), fields=['session'], name='session_held_now'),
        ),
        migrations.AddConstraint(
            model_name='heldsession',
            constraint=models.UniqueConstraint(fields=('hold', 'session'), name='held_session_once'),
        ),
        migrations.AddConstraint(
            model_name='retentionrule',
            constraint=models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('project', 'agent', 'tag'), name='retention_rule_once'),
        ),
        migrations.AddConstraint(
            model_name='retentionrule',
            constraint=models.CheckConstraint(condition=models.Q(('days', None), ('days__gte', 1), _connector='OR'), name='retention_rule_of_days'),
        ),
        migrations.AddIndex(
            model_name='forgetting',
            index=models.Index(fields=['project', '-id'], name='forgetting_newest_first'),
        ),
        migrations.AddIndex(
            model_name='forgetting',
            index=models.Index(condition=models.Q(('status', 'running')), fields=['id'], name='forgetting_under_way'),
        ),
        migrations.AddConstraint(
            model_name='forgetting',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('found', 'running', 'done', 'cancelled'))), name='forgetting_status_known'),
        ),
        migrations.AddConstraint(
            model_name='forgetting',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ('found', 'cancelled')), models.Q(('confirmed_by__isnull', False), ('reason__isnull', False)), _connector='OR'), name='forgetting_has_a_reason'),
        ),
        migrations.RunSQL(HELD, NOT_HELD),
    ]
