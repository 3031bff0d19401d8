"""A person has one identity at each sign-in provider."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0009_audit_forwarding'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='provideridentity',
            constraint=models.UniqueConstraint(fields=('user', 'issuer'), name='provider_identity_one_for_each_issuer'),
        ),
    ]
