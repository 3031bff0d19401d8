"""How much of each access log the project's log of evidence commits to."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0052_anchors'),
    ]

    operations = [
        migrations.CreateModel(
            name='AccessHead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain', models.CharField(max_length=60, unique=True)),
                ('lines', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('comparison', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.comparison')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_access_head',
            },
        ),
    ]
