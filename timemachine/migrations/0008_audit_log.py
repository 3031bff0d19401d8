"""The audit log: what happened in a project, who did it, and from where."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0007_sign_in_provider")]

    operations = [
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('action', models.CharField(max_length=40)),
                ('actor', models.CharField(max_length=254)),
                ('address', models.CharField(max_length=50, null=True)),
                ('request_id', models.CharField(max_length=128, null=True)),
                ('target_type', models.CharField(blank=True, max_length=20)),
                ('target_id', models.CharField(blank=True, max_length=254)),
                ('facts', models.JSONField(null=True)),
                ('sequence', models.BigIntegerField(null=True)),
                ('previous_sha256', models.CharField(max_length=64, null=True)),
                ('sha256', models.CharField(max_length=64, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_audit_event',
                'indexes': [models.Index(fields=['project', '-id'], name='audit_event_newest_first'), models.Index(fields=['project', 'action', '-id'], name='audit_event_of_an_action'), models.Index(fields=['project', 'actor', '-id'], name='audit_event_of_an_actor'), models.Index(fields=['project', '-at'], name='audit_event_by_time'), models.Index(condition=models.Q(('sequence', None)), fields=['at'], name='audit_event_not_chained')],
                'constraints': [models.UniqueConstraint(fields=('project', 'sequence'), name='audit_event_once_in_its_chain'), models.CheckConstraint(condition=models.Q(models.Q(('previous_sha256', None), ('sequence', None), ('sha256', None)), models.Q(('previous_sha256__isnull', False), ('sequence__gte', 1), ('sha256__isnull', False)), _connector='OR'), name='audit_event_chained_as_a_whole')],
            },
        ),
        migrations.RunSQL((SQL / "audit.sql").read_text(encoding="utf-8")),
    ]
