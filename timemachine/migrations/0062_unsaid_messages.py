from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0061_session_parent_key'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='action',
            index=models.Index(
                condition=Q(
                    ('kind', 'message'),
                    ('layer__in', ('tool', 'sys')),
                    Q(('role', None), Q(('role', 'system'), _negated=True), _connector='OR'),
                ),
                fields=['session', 'sequence'],
                name='action_unsaid',
            ),
        ),
    ]
