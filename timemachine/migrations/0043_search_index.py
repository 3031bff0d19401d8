"""What steps are found by: their words, their meaning, how far each session is indexed, and who is at it.

Steps that were recorded before are indexed by the worker, like those that come.
"""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import timemachine.retrieval.fields
from django.db import migrations, models


# A tsvector holds 1 MB at most: a text that makes more is halved until it fits, its end being left out.
WORDS = """
CREATE FUNCTION tm_action_words(names text, body text, identifiers text[], OUT words tsvector, OUT cut boolean)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    cut := false;
    LOOP
        BEGIN
            words := tm_search_terms(tm_frame_terms(names, body), identifiers);
            RETURN;
        EXCEPTION WHEN program_limit_exceeded THEN
            cut := true;
            body := left(body, length(body) / 2);
            identifiers := identifiers[1:cardinality(identifiers) / 2];
        END;
    END LOOP;
END $$;
ALTER TABLE tm_action_meaning ALTER COLUMN vector SET STORAGE PLAIN;
"""
NO_WORDS = """
DROP FUNCTION tm_action_words(text, text, text[]);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('timemachine', '0042_rollup'),
    ]

    operations = [
        migrations.CreateModel(
            name='Indexing',
            fields=[
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.project')),
                ('lease_until', models.DateTimeField(null=True)),
                ('rung_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'tm_indexing',
            },
        ),
        migrations.CreateModel(
            name='IndexedSession',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.session')),
                ('indexed_through', models.BigIntegerField(default=0)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
            ],
            options={
                'db_table': 'tm_indexed_session',
            },
        ),
        migrations.CreateModel(
            name='ActionMeaning',
            fields=[
                ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.action')),
                ('sequence', models.BigIntegerField()),
                ('model', models.CharField(max_length=200)),
                ('vector', timemachine.retrieval.fields.VectorField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_action_meaning',
                'indexes': [models.Index(fields=['project'], name='meaning_of_project'), models.Index(fields=['session', 'sequence'], name='meaning_of_session')],
            },
        ),
        migrations.CreateModel(
            name='SearchedAction',
            fields=[
                ('action', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='+', serialize=False, to='timemachine.action')),
                ('sequence', models.BigIntegerField()),
                ('kind', models.CharField(max_length=12)),
                ('words', django.contrib.postgres.search.SearchVectorField()),
                ('weights', timemachine.retrieval.fields.WeightsField(dimensions=16777216)),
                ('cut', models.BooleanField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.project')),
                ('session', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='timemachine.session')),
            ],
            options={
                'db_table': 'tm_searched_action',
                'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['words'], name='searched_words'), models.Index(fields=['project'], name='searched_of_project'), models.Index(fields=['session', 'sequence'], name='searched_of_session')],
            },
        ),
        migrations.RunSQL(WORDS, NO_WORDS),
    ]
