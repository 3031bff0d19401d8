"""Signing keys can be in another store than the database, where they have a name."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0012_roles")]
    operations = [
        migrations.AddField(
            model_name="signingkey",
            name="store",
            field=models.CharField(db_default="database", max_length=200),
        ),
        migrations.AddField(
            model_name="signingkey",
            name="name",
            field=models.CharField(max_length=2000, null=True),
        ),
        migrations.AlterField(
            model_name="signingkey",
            name="private_key",
            field=models.BinaryField(null=True),
        ),
        migrations.AddConstraint(
            model_name="signingkey",
            constraint=models.CheckConstraint(
                condition=Q(store="database", private_key__isnull=False, name=None)
                | Q(~Q(store="database"), private_key=None, name__isnull=False),
                name="signing_key_in_one_store",
            ),
        ),
    ]
