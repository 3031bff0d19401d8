"""A judge whose model is busy says why it waits, and until when."""

from django.db import migrations, models

import timemachine.payloads.fields


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0037_call_beside")]

    operations = [
        migrations.AddField(
            model_name="cellopinion",
            name="asked_again_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="cellopinion",
            name="waits_because",
            field=timemachine.payloads.fields.FaithfulTextField(null=True),
        ),
    ]
