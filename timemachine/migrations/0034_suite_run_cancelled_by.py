"""A run of a suite keeps who cancelled it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0033_asked_again")]

    operations = [
        migrations.AddField(
            model_name="suiterun",
            name="cancelled_by",
            field=models.CharField(max_length=254, null=True),
        ),
    ]
