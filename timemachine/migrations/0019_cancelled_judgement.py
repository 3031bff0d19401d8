"""A judgement that is under way can be told to end."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("timemachine", "0018_source_put"),
    ]

    operations = [
        migrations.AddField(
            model_name="judgement",
            name="cancel_wanted_at",
            field=models.DateTimeField(null=True),
        ),
    ]
