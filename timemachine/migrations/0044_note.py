"""Sentences pinned to the steps of a session."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
import timemachine.base.ids
import timemachine.payloads.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0043_search_index'),
    ]

    operations = [
        migrations.CreateModel(
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
                'indexes': [models.Index(condition=models.Q(('deleted_at', None)), fields=['session', 'sequence', 'id'], name='note_in_order')],
                'constraints': [models.CheckConstraint(condition=models.Q(('sequence__gte', 1)), name='note_of_a_step'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text'), 12000), name='note_of_bounded_length'), models.CheckConstraint(condition=models.Q(models.Q(models.Q(('deleted_at', None)), models.Q(('text', ''), _negated=True), ('deleted_by', None)), models.Q(('deleted_at__isnull', False), ('deleted_by__isnull', False), ('text', '')), _connector='OR'), name='note_has_a_text_or_was_deleted')],
            },
        ),
    ]
