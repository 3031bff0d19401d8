"""How far the audit logs were forwarded."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0008_audit_log'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditForwarding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('destination', models.CharField(max_length=10)),
                ('sequence', models.BigIntegerField(default=0)),
                ('attempts', models.IntegerField(default=0)),
                ('problem', models.TextField(null=True)),
                ('next_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_audit_forwarding',
                'constraints': [models.UniqueConstraint(fields=('project', 'destination'), name='audit_forwarding_once')],
            },
        ),
    ]
