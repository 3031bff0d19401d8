"""What was answered to an Idempotency-Key beside sequences: an ask, a find, a put, and the session that a request began."""

import timemachine.payloads.fields
from django.db import migrations, models


NOT_OF_ACTIONS = "DELETE FROM tm_delivery WHERE begins OR ask IS NOT NULL OR status IS NOT NULL OR cardinality(sequences) = 0"
"""What a version before this one did not keep: it would take it for a delivery of actions, or find a key twice."""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0078_nothing_priced'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_once',
        ),
        migrations.AddField(
            model_name='delivery',
            name='answer',
            field=timemachine.payloads.fields.FaithfulJSONField(null=True),
        ),
        migrations.AddField(
            model_name='delivery',
            name='ask',
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name='delivery',
            name='begins',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='delivery',
            name='status',
            field=models.SmallIntegerField(null=True),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('session', 'key', 'begins'), name='delivery_once_of_each'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(condition=models.Q(('begins', True)), fields=('project', 'key'), name='session_begun_once'),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, NOT_OF_ACTIONS),
    ]
