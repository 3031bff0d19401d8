"""An attempt keeps what its call was expected to cost, so that calls side by side stay below a spend limit together."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0030_suite_matching")]

    operations = [
        migrations.AddField(
            model_name="replayattempt",
            name="reserved_usd",
            field=models.DecimalField(decimal_places=15, max_digits=30, null=True),
        ),
    ]
