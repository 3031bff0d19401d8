"""A check of a replay or comparison says how many recorded steps of its sessions it compared."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0056_file_imports")]

    operations = [
        migrations.AddField(
            model_name="sealcheck",
            name="recorded",
            field=models.BigIntegerField(db_default=0, default=0),
        )
    ]
