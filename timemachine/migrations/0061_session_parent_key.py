from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0060_searched_action_tokens'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='parent_key',
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(
                condition=Q(('parent_key__isnull', False)),
                fields=['project', 'parent_key'],
                name='session_awaits_parent',
            ),
        ),
    ]
