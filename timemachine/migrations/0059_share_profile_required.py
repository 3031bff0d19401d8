"""A project may ask that every link withholds by a profile."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0058_earlier_seals")]

    operations = [
        migrations.AddField(
            model_name="sharepolicy",
            name="profile_required",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
