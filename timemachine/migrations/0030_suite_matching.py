"""A suite may describe sessions that are looked for at each run."""

import timemachine.payloads.fields
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("timemachine", "0029_telling"),
    ]

    operations = [
        migrations.AddField(
            model_name="suite",
            name="matching",
            field=timemachine.payloads.fields.FaithfulJSONField(null=True),
        ),
    ]
