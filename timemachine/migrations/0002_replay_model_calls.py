"""The verdict on the context of a replayed model call can be `reconstructed`."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0001_initial")]
    operations = [
        migrations.AlterField(
            model_name="replaystep",
            name="context",
            field=models.CharField(max_length=13, null=True),
        ),
    ]
