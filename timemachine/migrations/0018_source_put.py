"""Each putting of a file is noted with what it ended; a failed file can be taken out of its list, and nothing is forgotten."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

PROMISES = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_source_put FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_source_put FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
"""

NO_PROMISES = """
DROP TRIGGER append_only ON tm_source_put;
DROP TRIGGER never_emptied ON tm_source_put;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0017_hold'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourcePut',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('put_by', models.CharField(max_length=254)),
                ('replaced', models.BooleanField()),
                ('new', models.BigIntegerField()),
                ('kept', models.BigIntegerField()),
                ('ended', models.BigIntegerField()),
            ],
            options={
                'db_table': 'tm_source_put',
            },
        ),
        migrations.RemoveConstraint(
            model_name='frame',
            name='frame_end_has_cause',
        ),
        migrations.AddField(
            model_name='intake',
            name='dismissed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='intake',
            name='dismissed_by',
            field=models.CharField(blank=True, max_length=254),
        ),
        migrations.AddField(
            model_name='source',
            name='left_out',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list),
        ),
        migrations.AlterField(
            model_name='intake',
            name='source',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='intakes', to='timemachine.source'),
        ),
        migrations.AddConstraint(
            model_name='frame',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_by', None), ('valid_until', None)), models.Q(('ended_by__in', ('update', 'delete', 'replace')), ('valid_until__isnull', False)), _connector='OR'), name='frame_end_has_cause'),
        ),
        migrations.AddConstraint(
            model_name='intake',
            constraint=models.CheckConstraint(condition=models.Q(('dismissed_at', None), ('status', 'failed'), _connector='OR'), name='intake_dismissed_where_failed'),
        ),
        migrations.AddField(
            model_name='sourceput',
            name='source',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='puts', to='timemachine.source'),
        ),
        migrations.AddIndex(
            model_name='sourceput',
            index=models.Index(fields=['at'], name='source_put_at'),
        ),
        migrations.AddConstraint(
            model_name='sourceput',
            constraint=models.CheckConstraint(condition=models.Q(('ended__gte', 0), ('kept__gte', 0), ('new__gte', 0)), name='source_put_counts_from_0'),
        ),
        migrations.AddConstraint(
            model_name='sourceput',
            constraint=models.CheckConstraint(condition=models.Q(('replaced', True), ('ended', 0), _connector='OR'), name='source_put_ends_where_it_replaces'),
        ),
        migrations.RunSQL(PROMISES, NO_PROMISES),
    ]
