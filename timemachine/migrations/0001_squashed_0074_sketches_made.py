"""The whole schema at once, where there is none yet: a first start needs seconds for it instead of a quarter of a minute.

A database that has some of the migrations that this one replaces goes on with them, and this one is then recorded beside them. What it
makes is what they make; tests/test_migrations.py compares the two as Postgres dumps them.
"""

from django.db import migrations
from pgvector.django import VectorExtension

from . import as_of_0074


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("timemachine", "0001_functions"),
        ("timemachine", "0002_tables"),
        ("timemachine", "0003_promises"),
        ("timemachine", "0004_queue"),
        ("timemachine", "0005_answer_cache"),
        ("timemachine", "0006_tokens_not_recorded"),
        ("timemachine", "0007_search"),
        ("timemachine", "0008_search_upkeep"),
        ("timemachine", "0009_judgements"),
        ("timemachine", "0010_ask_under_way"),
        ("timemachine", "0011_files"),
        ("timemachine", "0012_provider_keys"),
        ("timemachine", "0013_embedding_work"),
        ("timemachine", "0014_ask_model"),
        ("timemachine", "0015_refused_frame"),
        ("timemachine", "0016_source_passage"),
        ("timemachine", "0017_hold"),
        ("timemachine", "0018_source_put"),
        ("timemachine", "0019_cancelled_judgement"),
        ("timemachine", "0020_comparison"),
        ("timemachine", "0021_side_by_side"),
        ("timemachine", "0022_trial"),
        ("timemachine", "0023_hold_shared"),
        ("timemachine", "0024_long_diff"),
        ("timemachine", "0025_sweep"),
        ("timemachine", "0026_comparison_findings"),
        ("timemachine", "0027_suite"),
        ("timemachine", "0028_called_provider"),
        ("timemachine", "0029_telling"),
        ("timemachine", "0030_suite_matching"),
        ("timemachine", "0031_reserved_spending"),
        ("timemachine", "0032_cancelled_by"),
        ("timemachine", "0033_asked_again"),
        ("timemachine", "0034_suite_run_cancelled_by"),
        ("timemachine", "0035_suite_problem"),
        ("timemachine", "0036_suite_report"),
        ("timemachine", "0037_call_beside"),
        ("timemachine", "0039_judge_asked_again"),
        ("timemachine", "0040_opinion_unknown_cost"),
        ("timemachine", "0041_frame_deleted_by"),
        ("timemachine", "0042_rollup"),
        ("timemachine", "0043_search_index"),
        ("timemachine", "0044_note"),
        ("timemachine", "0045_share_comparison"),
        ("timemachine", "0046_redaction_profile"),
        ("timemachine", "0047_share_log"),
        ("timemachine", "0048_evidence"),
        ("timemachine", "0049_share_redaction"),
        ("timemachine", "0050_seal_comparison"),
        ("timemachine", "0051_erasure"),
        ("timemachine", "0052_anchors"),
        ("timemachine", "0053_access_heads"),
        ("timemachine", "0054_count_by_index"),
        ("timemachine", "0055_trace"),
        ("timemachine", "0056_file_imports"),
        ("timemachine", "0057_repeated_steps_checked"),
        ("timemachine", "0058_earlier_seals"),
        ("timemachine", "0059_share_profile_required"),
        ("timemachine", "0060_searched_action_tokens"),
        ("timemachine", "0061_session_parent_key"),
        ("timemachine", "0062_unsaid_messages"),
        ("timemachine", "0063_weight"),
        ("timemachine", "0064_compression_rule"),
        ("timemachine", "0065_session_summary"),
        ("timemachine", "0066_patterns"),
        ("timemachine", "0067_forgetting"),
        ("timemachine", "0068_action_sketch"),
        ("timemachine", "0069_action_when"),
        ("timemachine", "0070_summaries_that_stay"),
        ("timemachine", "0071_deleted_turns_say_so"),
        ("timemachine", "0072_no_second_indexes"),
        ("timemachine", "0073_sketch_of_every_step"),
        ("timemachine", "0074_sketches_made"),
    ]
    dependencies = []
    operations = [
        VectorExtension(),
        migrations.RunSQL(as_of_0074.BEFORE_THE_TABLES, as_of_0074.NO_FUNCTIONS),
        as_of_0074.CreateModels(as_of_0074.TABLES),
        migrations.RunSQL(as_of_0074.AFTER_THE_TABLES, migrations.RunSQL.noop),
        migrations.RunPython(as_of_0074.install_queue, migrations.RunPython.noop),
    ]
