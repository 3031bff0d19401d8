"""A long diff has the numbers and names that differ; those that were made without them are made again when they are asked for."""

import timemachine.payloads.fields
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0028_called_provider")]

    operations = [
        migrations.AddField(
            model_name="longdiff",
            name="telling",
            field=timemachine.payloads.fields.FaithfulJSONField(null=True),
        ),
        migrations.RunSQL("DELETE FROM tm_long_diff", migrations.RunSQL.noop),
    ]
