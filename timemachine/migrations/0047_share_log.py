"""The access log of links as a chain of hashes that nobody changes, what a project allows of its links, and counted page views."""

import django.db.models.deletion
import django.db.models.functions.datetime
import timemachine.payloads.fields
from django.db import migrations, models
from timemachine.base.clock import written
from timemachine.sharing.log_line import BEFORE_THE_FIRST, Line, sha256_of

APPEND_ONLY = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_share_opening FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_share_opening FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
"""

NOT_APPEND_ONLY = """
DROP TRIGGER append_only ON tm_share_opening;
DROP TRIGGER never_emptied ON tm_share_opening;
"""


def chain(apps, schema_editor):
    """Number and hash the lines there are, and write those of links that were made and revoked before there were any."""
    links, openings = (apps.get_model('timemachine', name) for name in ('ShareLink', 'ShareOpening'))
    for link in links.objects.order_by('id').iterator():
        rows = list(openings.objects.filter(link=link).order_by('at', 'id'))
        rows.insert(0, openings(link=link, at=link.created_at, result='created', by=link.created_by, facts=_facts(link)))
        if link.revoked_at is not None:
            rows.append(openings(link=link, at=link.revoked_at, result='ended', by=link.revoked_by))
            rows[1:] = sorted(rows[1:], key=lambda row: row.at)
        before = BEFORE_THE_FIRST
        for number, row in enumerate(rows, 1):
            row.project_id, row.sequence, row.previous_sha256 = link.project_id, number, before
            row.sha256 = before = sha256_of(
                Line(
                    chain=f'link {link.pk}',
                    sequence=number,
                    at=row.at,
                    result=row.result,
                    by=row.by,
                    address=row.address,
                    browser=row.browser,
                    facts=row.facts,
                    previous_sha256=before,
                )
            )
            row.save()


def _facts(link):
    return {
        'target_type': link.target_type,
        'target_id': str(link.comparison_id or link.replay_id or link.session_id),
        'through_sequence': link.through_sequence,
        'evidence_only': link.evidence_only,
        'expires_at': written(link.expires_at),
        'max_opens': link.max_opens,
        'passphrase': link.passphrase_hash is not None,
    }


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0046_redaction_profile'),
    ]

    operations = [
        migrations.CreateModel(
            name='SharePolicy',
            fields=[
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='share_policy', serialize=False, to='timemachine.project')),
                ('forbidden', models.BooleanField(default=False)),
                ('passphrase_required', models.BooleanField(default=False)),
                ('longest_days', models.IntegerField(null=True)),
            ],
            options={
                'db_table': 'tm_share_policy',
                'constraints': [models.CheckConstraint(condition=models.Q(('longest_days', None), models.Q(('longest_days__gte', 1), ('longest_days__lte', 366)), _connector='OR'), name='share_policy_days_in_bounds')],
            },
        ),
        migrations.AddField(
            model_name='sharegrant',
            name='views',
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='sharegrant',
            name='views_since',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name='sharemiss',
            name='public_id',
            field=models.CharField(max_length=16, null=True),
        ),
        migrations.AlterField(
            model_name='sharemiss',
            name='origin',
            field=models.CharField(max_length=50, null=True),
        ),
        migrations.AddIndex(
            model_name='sharemiss',
            index=models.Index(fields=['public_id', '-at'], name='share_miss_of_a_link'),
        ),
        migrations.RemoveIndex(
            model_name='shareopening',
            name='share_opening_newest_first',
        ),
        migrations.AddField(
            model_name='shareopening',
            name='project',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project'),
        ),
        migrations.AddField(
            model_name='shareopening',
            name='sequence',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='shareopening',
            name='by',
            field=models.CharField(max_length=254, null=True),
        ),
        migrations.AddField(
            model_name='shareopening',
            name='facts',
            field=timemachine.payloads.fields.FaithfulJSONField(null=True),
        ),
        migrations.AddField(
            model_name='shareopening',
            name='previous_sha256',
            field=models.CharField(max_length=64, null=True),
        ),
        migrations.AddField(
            model_name='shareopening',
            name='sha256',
            field=models.CharField(max_length=64, null=True),
        ),
        migrations.RunSQL('SET CONSTRAINTS ALL IMMEDIATE', migrations.RunSQL.noop),
        migrations.RunPython(chain, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='shareopening',
            name='at',
            field=models.DateTimeField(),
        ),
        migrations.AlterField(
            model_name='shareopening',
            name='link',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='openings', to='timemachine.sharelink'),
        ),
        migrations.AlterField(
            model_name='shareopening',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project'),
        ),
        migrations.AlterField(
            model_name='shareopening',
            name='sequence',
            field=models.BigIntegerField(),
        ),
        migrations.AlterField(
            model_name='shareopening',
            name='previous_sha256',
            field=models.CharField(max_length=64),
        ),
        migrations.AlterField(
            model_name='shareopening',
            name='sha256',
            field=models.CharField(max_length=64),
        ),
        migrations.AddConstraint(
            model_name='shareopening',
            constraint=models.UniqueConstraint(condition=models.Q(('link__isnull', False)), fields=('link', 'sequence'), name='share_opening_of_a_link_once'),
        ),
        migrations.AddConstraint(
            model_name='shareopening',
            constraint=models.UniqueConstraint(condition=models.Q(('link', None)), fields=('project', 'sequence'), name='share_opening_of_a_policy_once'),
        ),
        migrations.AddConstraint(
            model_name='shareopening',
            constraint=models.CheckConstraint(condition=models.Q(('sequence__gte', 1)), name='share_opening_counts_from_1'),
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
