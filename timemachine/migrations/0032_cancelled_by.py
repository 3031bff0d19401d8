"""A replay keeps who cancelled it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0031_reserved_spending")]

    operations = [
        migrations.AddField(
            model_name="replay",
            name="cancel_requested_by",
            field=models.CharField(max_length=254, null=True),
        ),
    ]
