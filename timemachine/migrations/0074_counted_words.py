"""How many steps hold a word, for all words that many hold, where only those that very many hold were kept."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0073_sketch_of_every_step'),
    ]

    operations = [
        migrations.RemoveField(model_name='indexing', name='common'),
        migrations.RemoveField(model_name='indexing', name='common_among'),
        migrations.AddField(
            model_name='indexing',
            name='counted_among',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name='CountedWord',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('word', models.TextField()),
                ('steps', models.BigIntegerField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_counted_word',
                'constraints': [models.UniqueConstraint(fields=('project', 'word'), name='counted_word_once')],
            },
        ),
    ]
