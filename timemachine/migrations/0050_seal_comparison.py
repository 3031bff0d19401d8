"""Comparisons are sealed as sessions and replays are, with what their figures showed."""

import django.db.models.deletion
from django.db import migrations, models


APPEND_ONLY = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON tm_sealed_results FOR EACH STATEMENT EXECUTE FUNCTION tm_refuse_change();
"""

NOT_APPEND_ONLY = """
DROP TRIGGER never_emptied ON tm_sealed_results;
DROP TRIGGER append_only ON tm_sealed_results;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0049_share_redaction'),
    ]

    operations = [
        migrations.CreateModel(
            name='SealedResults',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('form', models.IntegerField()),
                ('content', models.TextField()),
            ],
            options={
                'db_table': 'tm_sealed_results',
            },
        ),
        migrations.RemoveConstraint(
            model_name='seal',
            name='seal_of_one_thing',
        ),
        migrations.AddField(
            model_name='seal',
            name='comparison',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='seals', to='timemachine.comparison'),
        ),
        migrations.AddField(
            model_name='sealedrecord',
            name='row',
            field=models.CharField(max_length=60, null=True),
        ),
        migrations.AddConstraint(
            model_name='seal',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('comparison', None), ('of', 'session'), ('replay', None), ('session__isnull', False)), models.Q(('comparison', None), ('of', 'replay'), ('replay__isnull', False), ('session', None)), models.Q(('comparison__isnull', False), ('of', 'comparison'), ('replay', None), ('session', None)), _connector='OR'), name='seal_of_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='seal',
            constraint=models.UniqueConstraint(condition=models.Q(('comparison__isnull', False)), fields=('comparison', 'generation'), name='seal_of_comparison_generation_once'),
        ),
        migrations.AddConstraint(
            model_name='sealedrecord',
            constraint=models.UniqueConstraint(condition=models.Q(('row__isnull', False)), fields=('seal', 'row'), name='sealed_record_of_a_row_once'),
        ),
        migrations.AddField(
            model_name='sealedresults',
            name='seal',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='results', to='timemachine.seal'),
        ),
        migrations.AddConstraint(
            model_name='sealedresults',
            constraint=models.UniqueConstraint(fields=('seal', 'form'), name='sealed_results_once'),
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
