// Generated from the OpenAPI document by `make client`.
// SHA-256 of the document: 9f2fbbcdda8949414ade0778973583b9dfae4ede851c2455a26a4fc11b8d3dcc

export interface paths {
    "/api/answer-cache": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The answer cache
         * @description Whether the cache is on and since when, how many answers it holds, and their size in bytes.
         */
        get: operations["timemachine_api_asks_read_cache"];
        put?: never;
        post?: never;
        /**
         * Empty the answer cache
         * @description Remove every answer from the cache. Recorded sessions are unchanged.
         */
        delete: operations["timemachine_api_asks_empty_cache"];
        options?: never;
        head?: never;
        /**
         * Turn the answer cache on or off
         * @description While the cache is off, answers are neither read from it nor added to it. Its content is kept.
         */
        patch: operations["timemachine_api_asks_switch_cache"];
        trace?: never;
    };
    "/api/asks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List running asks
         * @description The project's asks whose model has not answered yet, oldest first.
         */
        get: operations["timemachine_api_asks_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/asks/{ask_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an ask
         * @description End a running ask, even while its provider is not responding. Its record says that it was cancelled. It may have been billed.
         */
        post: operations["timemachine_api_asks_cancel_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what happened in the project
         * @description Who did what, newest first: sign-ins, members, keys, share links, exports, deletions, replays and settings.
         *
         *     `action` is one such as `key.created`, or its subject, such as `key`. `since` and `until` are times; a date alone means its whole day in UTC.
         */
        get: operations["timemachine_api_audit_log_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit-log/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the chain of the audit log
         * @description Read the chain from its first line, verify every hash, and compare it with the project's signed evidence log.
         */
        get: operations["timemachine_api_audit_log_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit-log/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the audit log
         * @description All chosen events, oldest first, as JSON lines or with `format=csv` for a spreadsheet. The export is an event itself.
         */
        get: operations["timemachine_api_audit_log_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List collections
         * @description The project's collections by name.
         */
        get: operations["timemachine_api_collections_index"];
        put?: never;
        /**
         * Create a collection
         * @description Create an empty collection.
         */
        post: operations["timemachine_api_collections_make"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One collection
         * @description A collection by its name.
         */
        get: operations["timemachine_api_collections_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/ask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask
         * @description Find passages and ask a model over them. Nothing is recorded. It streams like an ask in a session.
         */
        post: operations["timemachine_api_collections_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/embedding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Embedding progress of a collection
         * @description The collection's embedding model, how many of its frames (every version counts) are embedded, and the model that is to replace it.
         */
        get: operations["timemachine_api_collections_embedding"];
        put?: never;
        /**
         * Re-embed a collection
         * @description Embed the collection with another model in the background: `wordllama`, `minilm` or `server:MODEL`.
         *
         *     Searches use the current model until the new one has embedded every frame; the old vectors stay. Frames that a model's server refuses
         *     do not hold up the others: `refused` says how many there are, and the latest one and why. Request the same model again to retry them.
         */
        post: operations["timemachine_api_collections_re_embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a file
         * @description Put the passages of a text, Markdown, HTML, PDF or JSONL file into a collection. The collection is created if it does not exist.
         *
         *     A small file is put immediately (201, with the result for each passage). A worker puts a PDF, a file over 256 KB, and a file whose `uri`
         *     an earlier unfinished file has (202 with `intake_id`; follow it at /api/intakes/{id}): files with the same `uri` are put in the order
         *     in which they came.
         *
         *     `replace` ends the passages of the same `uri` that this file does not have. Without it, `edited_frames` names each passage that was
         *     edited by hand and whose old text this file adds again, in the frame `beside`.
         */
        post: operations["timemachine_api_files_put_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find
         * @description Find passages; nothing is recorded.
         */
        post: operations["timemachine_api_collections_find"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/frames": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List frames
         * @description The collection's frames by number, now or as of a given time.
         */
        get: operations["timemachine_api_collections_frames"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/frames/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Every version of a frame
         * @description The versions of a frame, the first one first, in pages: `next` is null on the last.
         *
         *     `source` is the file that a version came with. `files` are all that have any version, newest first; they and `used_by` are the
         *     same on every page.
         */
        get: operations["timemachine_api_collections_frame"];
        put?: never;
        post?: never;
        /**
         * Delete a frame
         * @description End a frame's current version; its history stays.
         */
        delete: operations["timemachine_api_collections_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/put": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put
         * @description Put passages into a collection. The collection is created if it does not exist.
         */
        post: operations["timemachine_api_collections_put"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files
         * @description The files whose passages were put into the collection, newest first.
         *
         *     `frames` is how many frames of a file are current, `edited` how many more were edited by hand since.
         */
        get: operations["timemachine_api_files_sources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections/{name}/sources/{source_id}/frames": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The frames of a file
         * @description The current frames that are passages of the file, in the order in which they were put; the text of each is at /frames/{number}.
         */
        get: operations["timemachine_api_files_source_frames"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two sessions or replays
         * @description The steps of both in pairs, aligned by what they are: `same`, `modified`, `moved`, `only_left` (only `a` has it), `only_right` or `not_asked` (left out for a spend limit).
         *
         *     A step that `moved` is in two pairs, at its place in `a` and at its place in `b`, and counts once.
         *
         *     `first_divergence` is the first pair in which the agent did something else: another call, other arguments, another answer.
         *
         *     `a` and `b` are a session's id or key, or a replay's id. Two runs of one session are paired by sequence; against a replay
         *     only finds, asks and model calls are compared.
         */
        get: operations["timemachine_api_comparisons_compare"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List comparisons
         * @description The project's comparisons, newest first.
         */
        get: operations["timemachine_api_comparisons_index"];
        put?: never;
        /**
         * Launch a comparison
         * @description Ask these sessions' questions again with each arm, over their frozen contexts; follow it at /api/comparisons/{id}.
         */
        post: operations["timemachine_api_comparisons_launch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate the cost of a comparison
         * @description The estimated cost of the comparison that the same request would launch, by arm, for all its runs. No model is called.
         */
        post: operations["timemachine_api_comparisons_estimate_launch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One comparison
         * @description The progress of a comparison and, once it has finished, the totals of its columns and the result of each pair of them.
         *
         *     `results.state` is `not_yet` while it runs (unless `so_far` requests interim results), `under_way` while a worker computes
         *     them (older ones are shown in the meantime), `current`, or `failed`.
         */
        get: operations["timemachine_api_comparisons_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a comparison
         * @description Stop all its replays. Waiting calls do not start; running calls end within a few seconds.
         */
        post: operations["timemachine_api_comparisons_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/cells": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A comparison's cells
         * @description The asks in order, each with the metrics of every answer, its ratings and the verdicts of judge models.
         */
        get: operations["timemachine_api_comparisons_cells"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a comparison's evidence (zip)
         * @description A finished comparison: every cell, the statistics, ratings and judge verdicts, and the recorded steps that the cells repeat.
         */
        get: operations["timemachine_api_evidence_of_comparison"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a comparison
         * @description `format=json`: the comparison with its cells and statistics in one document.
         *
         *     `format=csv`: a line for each cell, in it the session's name and key and the whole text of the answer; a text that a spreadsheet would
         *     take for a formula begins with an apostrophe.
         */
        get: operations["timemachine_api_comparisons_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/judgements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a model judge the cells
         * @description Ask a model about every changed cell, or about one, each twice with the answers swapped. The calls are paid.
         *
         *     What it says is its opinion, stands with the cells, and is never part of a verdict. It is asked in the background.
         */
        post: operations["timemachine_api_comparisons_judge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/judgements/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the judging
         * @description Cancel the waiting calls and end the running ones. The running ones may be billed.
         */
        post: operations["timemachine_api_comparisons_cancel_judgements"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/judgements/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Estimate the cost of judging the cells
         * @description The estimated tokens and US dollars of the calls that `judgements` would make; `cost_usd` is null if the price is unknown. No model is called.
         */
        get: operations["timemachine_api_comparisons_estimate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/judgements/{opinion_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One opinion
         * @description A judge model's verdict on a cell, with the messages that were sent and its raw answers.
         */
        get: operations["timemachine_api_comparisons_opinion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/marks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rate a cell
         * @description Rate an answer against the recorded one: `equivalent`, `contradicts`, `better` or `worse`; `withdrawn` removes a rating.
         */
        post: operations["timemachine_api_comparisons_mark"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry failed and cancelled answers
         * @description Ask again for failed and cancelled answers, once the comparison has finished.
         */
        post: operations["timemachine_api_comparisons_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/seal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The seal of a comparison
         * @description Whether its last run is sealed with all ratings, by which key, and the result of the last check.
         */
        get: operations["timemachine_api_evidence_seal_of_comparison"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/comparisons/{comparison_id}/seal/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a comparison's seal
         * @description Compare the complete comparison in the database with its seal.
         */
        post: operations["timemachine_api_evidence_check_comparison"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/compressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compress older sessions
         * @description Compress every session of the project that ended this many days ago or more, except those whose compression was undone.
         */
        post: operations["timemachine_api_transcripts_compress_older"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/compressions/rule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The compression rule of the project
         * @description How many days after they end the project's sessions are compressed; null means never.
         */
        get: operations["timemachine_api_transcripts_rule"];
        /**
         * Set the compression rule of the project
         * @description A worker applies it within the hour. Compressed sessions stay compressed when the rule is removed.
         */
        put: operations["timemachine_api_transcripts_set_rule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Costs of recorded work
         * @description Totals of what was recorded from `since` to `until` (days in UTC; the last 30 days), and the rows of one group: `by` is agent, model, tag, day or tool.
         *
         *     `calls` are calls of models and `tool_calls` those of tools; `p50_ms` and `p95_ms` cover the calls that recorded how long they took, within 2.5%, null
         *     without any. A session with several tags counts under each. `replays` is what replays cost on these days, continuations included, which is not part of the totals; null if
         *     there is a filter. `undated` is what imported steps without times cost, which is on no day.
         */
        get: operations["timemachine_api_costs_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/demo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Load the demo
         * @description Create the demo in this project, or return the existing one.
         */
        post: operations["timemachine_api_project_load_demo"];
        /**
         * Remove the demo
         * @description Remove everything that the demo created.
         */
        delete: operations["timemachine_api_project_remove_demo"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erasures/{erasure_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One erasure
         * @description `status` is `looking`, `found`, `erasing` or `done`. Nothing here says what was erased. While it is `found`, `first` shows the first places as they will read afterwards.
         */
        get: operations["timemachine_api_deletion_read_erasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erasures/{erasure_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm an erasure
         * @description Erase what was found. This cannot be undone; the `reason` stays in the project's log.
         */
        post: operations["timemachine_api_deletion_confirm_erasure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the evidence of the project's log (zip)
         * @description Every entry of the log with every root that was signed, and what still exists: a missing session is named.
         *
         *     With `audit_log`, also who did what in the project.
         */
        get: operations["timemachine_api_evidence_of_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/evidence/anchors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The witness and timestamp authority of the log
         * @description The witness and the timestamp authority: how much of the log each has and since when, or the last error. Each is null if not set.
         */
        get: operations["timemachine_api_evidence_read_anchors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set the witness and timestamp authority of the log
         * @description A new URL starts again from the first entry, an empty one removes it, and one that is left out is not changed.
         */
        patch: operations["timemachine_api_evidence_set_anchors"];
        trace?: never;
    };
    "/api/evidence/checks/{check_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The result of a seal check
         * @description `result` is `intact`, `altered` with each problem, or null while the check runs.
         */
        get: operations["timemachine_api_evidence_read_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/evidence/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The keys that sign evidence
         * @description The project's public keys, the one in use first. The list is empty until something is sealed.
         */
        get: operations["timemachine_api_evidence_list_keys"];
        put?: never;
        /**
         * Replace the key that signs evidence
         * @description Start signing with a new key. The log names it in an entry signed by the previous key.
         */
        post: operations["timemachine_api_evidence_replace_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/forgettings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List bulk deletions
         * @description The project's bulk deletions, including those of retention rules, newest first, with the results for their sessions.
         */
        get: operations["timemachine_api_deletion_index"];
        put?: never;
        /**
         * Prepare a bulk deletion
         * @description Find the sessions that match the `filter` now. Nothing is deleted yet.
         *
         *     The answer says how many sessions and steps they are, how many sessions are `held` and would stay, of how many a summary stays in a
         *     collection (`summarised`), and whether it is `every` session of the project.
         */
        post: operations["timemachine_api_deletion_make"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/forgettings/{forgetting_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One bulk deletion
         * @description `status` is `found`, `running`, `done` or `cancelled`; `states` counts its sessions: waiting, erased, held, changed (they no longer match), gone, failed.
         */
        get: operations["timemachine_api_deletion_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/forgettings/{forgetting_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a bulk deletion
         * @description Stop deleting sessions that are still waiting. Deleted sessions stay deleted.
         */
        post: operations["timemachine_api_deletion_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/forgettings/{forgetting_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete the sessions found
         * @description Have a worker delete the sessions found, for a `reason` that each tombstone keeps. This cannot be undone.
         */
        post: operations["timemachine_api_deletion_confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/forgettings/{forgetting_id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The sessions of a bulk deletion
         * @description Each session that was found, and its result.
         */
        get: operations["timemachine_api_deletion_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ground": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ground an answer
         * @description How far an answer is supported by its context, sentence by sentence; for `items`, a list of results in their order.
         *
         *     At most 20,000 characters and 500 sentences of an answer are read, 20,000 characters of each passage, and 100,000 characters and
         *     2,500 sentences of all passages together. `unread_characters` is how many were not read; such an answer is never HIGH. A
         *     request has at most 200 items with 1,000 passages each, and 120,000 characters to read.
         */
        post: operations["timemachine_api_judgements_ground"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List legal holds
         * @description The project's holds, including released ones, newest first. With `session`, those that it is or was under.
         */
        get: operations["timemachine_api_deletion_list_holds"];
        put?: never;
        /**
         * Place a legal hold
         * @description Hold `sessions`, or all that match the `filter` now: they cannot be deleted or erased, in part or completely, until they are released.
         *
         *     It needs a `reason`; the project's log keeps it, with who and when. With `dry_run`, the answer is how many sessions and steps it would cover.
         */
        post: operations["timemachine_api_deletion_place_hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/holds/{hold_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One legal hold
         * @description A hold with its first 100 sessions.
         */
        get: operations["timemachine_api_deletion_read_hold"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/holds/{hold_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a legal hold
         * @description Release a hold, or only these `sessions` of it, for a `reason` that the project's log keeps.
         */
        post: operations["timemachine_api_deletion_release_hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a file
         * @description Import the file in the body; the report accounts for every line. `format` is the name of a format, or `auto`.
         *
         *     If a session was deleted here before, it is imported again, and `deleted_before` says when it was deleted, by whom and why. Steps
         *     that were deleted stay deleted (`deleted_turns`).
         *
         *     The body can be compressed with gzip or Zstandard. It can have up to 512 MB, also decompressed.
         *
         *     With `later`, and always above 64 MB, a worker imports the file: the response is 202 with `import_id`, and
         *     `GET /api/imports/{import_id}` returns the progress.
         */
        post: operations["timemachine_api_imports_import_"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/import/lines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import lines of a growing file
         * @description Record the lines that no later line can change. The result is that of importing the complete file, however it is divided.
         *
         *     A line is held back as long as the answer that it belongs to may go on, or until the file has not grown for a minute. Formats: `claude_code`,
         *     `codex`, `gemini_cli`. The same lines can be sent again.
         */
        post: operations["timemachine_api_imports_lines_"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/imports/{import_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One import
         * @description The progress of an import that a worker carries out, and its result: `status` is waiting, running, done or failed.
         *
         *     A session that was deleted since is not listed.
         */
        get: operations["timemachine_api_imports_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/intakes/{intake_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One intake
         * @description A file that a worker puts into a collection: `status` is waiting, running, done or failed, and `report` is the result.
         */
        get: operations["timemachine_api_files_read_intake"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List keys
         * @description The project's keys, without their secrets.
         */
        get: operations["timemachine_api_project_list_keys"];
        put?: never;
        /**
         * Create a key
         * @description Create an API key for this project. The key itself is only in this response.
         *
         *     It expires after 90 days unless `expires_at` or `never_expires` is given.
         */
        post: operations["timemachine_api_project_make_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description Revoke a key, effective from the next request.
         */
        delete: operations["timemachine_api_project_revoke_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List models
         * @description The project's providers: the default model of each name, whether it can be used here, where its key comes from, its prices.
         */
        get: operations["timemachine_api_models_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the project's own keys for providers
         * @description For each built-in provider that takes a key, where it comes from; never the key.
         */
        get: operations["timemachine_api_models_keys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/keys/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The project's own key for a provider
         * @description Where the provider's key comes from, and who set it; never the key.
         */
        get: operations["timemachine_api_models_key"];
        /**
         * Set the project's own key for a provider
         * @description Store a key, encrypted. It is used instead of the environment's, replaces an earlier one, and is never shown again.
         */
        put: operations["timemachine_api_models_set_key"];
        post?: never;
        /**
         * Remove the project's own key for a provider
         * @description Remove the key and its default model. The environment's key, if any, is used again.
         */
        delete: operations["timemachine_api_models_remove_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List model servers
         * @description The project's own OpenAI-compatible servers, without their keys.
         */
        get: operations["timemachine_api_models_servers"];
        put?: never;
        /**
         * Add a model server
         * @description Add an OpenAI-compatible server; its models are then `name:model`. Its key is never shown again.
         */
        post: operations["timemachine_api_models_add_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/servers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a model server
         * @description Remove a server and its key. What was recorded with its models stays.
         */
        delete: operations["timemachine_api_models_remove_server"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a model
         * @description Make one small call, which is billed like any other. A failure is also a result.
         */
        post: operations["timemachine_api_models_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/patterns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List patterns
         * @description The errors and questions that occur in several sessions, most recent first; `q` is text of their wordings.
         *
         *     `similar_to` (SESSION:STEP, which is read immediately) or `text` lists instead the patterns that a step or a text is like, at most 10: `like` is
         *     `same` (same wording) or `alike` (same words), and `resolution` is what solved the pattern in another session, null if no step shows that.
         *     `not_read` is how many steps of the project have not been read for patterns yet.
         */
        get: operations["timemachine_api_patterns_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/patterns/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alerts
         * @description Patterns that met a rule, each once per window, newest first.
         */
        get: operations["timemachine_api_patterns_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/patterns/alerts/{alert_id}/seen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Dismiss an alert
         * @description Mark an alert as seen, so that the navigation no longer shows it.
         */
        post: operations["timemachine_api_patterns_seen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/patterns/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List rules
         * @description The rules by which patterns are reported; a project has at most 20.
         */
        get: operations["timemachine_api_patterns_rule_index"];
        put?: never;
        /**
         * Create a rule
         * @description Report patterns that occur in at least this many sessions in one calendar day, week or month (UTC).
         *
         *     Patterns that already meet the rule in the current window are reported immediately. A `url` is notified by POST with a pattern's address and
         *     counts, never with recorded text; setting one needs the scope `admin`.
         */
        post: operations["timemachine_api_patterns_make_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/patterns/rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a rule
         * @description Delete a rule and its alerts. If it has a `url`, this needs the scope `admin`, just as creating it does.
         */
        delete: operations["timemachine_api_patterns_delete_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/patterns/{pattern_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One pattern
         * @description A pattern with its wordings and its sessions, the one that had it last first: in which steps, and what solved it there.
         *
         *     The id of a pattern that became part of another returns that one. `limit` and `after` count sessions.
         */
        get: operations["timemachine_api_patterns_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/project": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The key's project
         * @description The project that the key belongs to, what the key can do, and the server's version.
         */
        get: operations["timemachine_api_project_project"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recall across sessions
         * @description What earlier sessions say to each of the `queries`, questions as people ask them: at most `limit` (or `top_k`, the same) turns each, best first, with session and step.
         *
         *     A turn need not hold all of the words. Words of time ("last Tuesday", "in May", "last session") say which turns are looked at, in the
         *     `time_zone`; each item says in `times` what was read as which time, in UTC (of the `sessions` before: `relation`, whether within, before or after them), in `unread` what looks like a time but was not read as one, and why, and `looked_for` what is left; `time_words: false` reads none,
         *     `past_times: true` only those that look back ("last week", "2 days ago"), for a message that may plan as well as ask.
         *     A query that names nothing to look for brings the most important turns of its time; `nothing` is why there are no results, null where there are. `around` adds this many turns before and after each
         *     result, of each at most 8 KiB of its input, output and error, and says where one is `cut`; the queries, times the `limit`, times those turns
         *     and the result itself are at most 1,000. With `budget` there is a `text` for a prompt, of at most this many tokens: the best turns, each with the
         *     solution, breakthrough and decision that follow it in its session; equal words of several sessions once. Where turns were found and none fits, `tokens.least` says how many tokens the shortest takes.
         */
        post: operations["timemachine_api_search_recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/redactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List redaction profiles
         * @description The profiles that can be chosen: the built-in one, then the newest version of each of the project's own, by name.
         */
        get: operations["timemachine_api_redactions_index"];
        put?: never;
        /**
         * Create a redaction profile
         * @description Create a profile, version 1. `rules` has `detect`, `phone_regions`, `patterns` (RE2) and `fields`.
         */
        post: operations["timemachine_api_redactions_make"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/redactions/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview what a profile would withhold
         * @description The text or step as a reader would see it, with counts by rule. Nothing is stored.
         */
        post: operations["timemachine_api_redactions_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/redactions/{redaction_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One redaction profile
         * @description The version of that id, the newest of that name, or `built-in`.
         */
        get: operations["timemachine_api_redactions_read"];
        put?: never;
        post?: never;
        /**
         * Retire a redaction profile
         * @description Retire a profile so that it can no longer be chosen. Existing uses keep its rules.
         */
        delete: operations["timemachine_api_redactions_retire"];
        options?: never;
        head?: never;
        /**
         * Change a redaction profile
         * @description Create the next version of a profile. Existing uses keep their version.
         */
        patch: operations["timemachine_api_redactions_change"];
        trace?: never;
    };
    "/api/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List replays
         * @description The replays of a session, or of the whole project, newest first.
         */
        get: operations["timemachine_api_replays_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One replay
         * @description How far a replay is, and its results so far.
         */
        get: operations["timemachine_api_replays_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay
         * @description Stop a replay. Waiting steps do not start; running calls end within a few seconds and may have been billed.
         */
        post: operations["timemachine_api_replays_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/continue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a continuation
         * @description Supply the results that the record does not have, the user's next message or a higher limit, and resume the continuation in the same branch.
         */
        post: operations["timemachine_api_replays_go_on"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a replay's evidence (zip)
         * @description A finished replay with the recorded steps that it repeats, and everything needed to check both without this server.
         */
        get: operations["timemachine_api_evidence_of_replay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry failed steps
         * @description Run the failed and cancelled steps of a finished replay again.
         */
        post: operations["timemachine_api_replays_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/seal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The seal of a replay
         * @description Whether its last run is sealed, by which key, and the result of the last check.
         */
        get: operations["timemachine_api_evidence_seal_of_replay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/seal/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a replay's seal
         * @description Compare the complete replay in the database with its seal.
         */
        post: operations["timemachine_api_evidence_check_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A replay's steps
         * @description The steps in the order of the recording.
         */
        get: operations["timemachine_api_replays_steps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/replays/{replay_id}/steps/{sequence}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One step of a replay
         * @description One step with all its fields.
         */
        get: operations["timemachine_api_replays_step"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List retention rules
         * @description The project's rules, the most specific first, each with what it would delete now (`due`). Sessions that no rule covers are kept permanently.
         */
        get: operations["timemachine_api_deletion_list_rules"];
        put?: never;
        /**
         * Set a retention rule
         * @description Keep the sessions of an `agent`, with a `tag`, both, or all others for `days` after the last recording in them; null keeps them permanently.
         *
         *     If several rules cover a session, the most specific applies: a tag and an agent, a tag, an agent, all; among equals, the one that keeps longer.
         *     Fewer than 183 days need a `reason`. With `dry_run`, nothing is set, and the answer says what the rule would delete today (`due`), when the
         *     first session that is not held is or was old enough (`first`), and which rule it would replace (`replaces`). Setting the same rule again
         *     changes nothing.
         */
        post: operations["timemachine_api_deletion_set_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/retention/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a retention rule
         * @description Remove a rule. Sessions that no other rule covers are then kept permanently.
         */
        delete: operations["timemachine_api_deletion_remove_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search across sessions
         * @description The sessions with steps that hold the words of `q`, or mean it, best first, each with at most 5 of its steps (100 with `session`).
         *
         *     `q`: words that a step must all hold, `"…"` as they stand, `-` not at all, `or` between what is wanted instead of each other. Identifiers
         *     (`parser.js:42`, `ERR_CONN_RESET`) are looked up whole. The first page begins with up to 10 sessions whose own name, key or tags have the words (`named`). `mode` is `hybrid`, `text` or `semantic`. `limit` and `after` count sessions. Steps
         *     are found some seconds after they were recorded; `not_indexed` says how many are not yet.
         */
        get: operations["timemachine_api_search_search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description The project's sessions, newest first.
         */
        get: operations["timemachine_api_sessions_index"];
        put?: never;
        /**
         * Start a session
         * @description Start a session. The `collection` is created if it does not exist.
         *
         *     There is one session per `key`; a second one is refused (`key_taken`). The same `Idempotency-Key` again gets the session that it
         *     started, as it is now. If you send a session later than it happened, give its `started_at`.
         */
        post: operations["timemachine_api_sessions_start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One session
         * @description A session by its uuid or key.
         */
        get: operations["timemachine_api_sessions_read"];
        put?: never;
        post?: never;
        /**
         * Delete a session
         * @description Delete a session with everything it recorded, its notes, replays, judgements and share links. This cannot be undone.
         *
         *     Its `summaries` in collections stay and are listed by `collection` and `frame`. So do its `branches`, whose `parent_deleted` says from
         *     which step they branched. The `reason` in the body is stored in the tombstone that the project's log has of what was sealed.
         */
        delete: operations["timemachine_api_sessions_erase"];
        options?: never;
        head?: never;
        /**
         * Rename or tag a session
         * @description Change a session's name, metadata or tags. The recording is unchanged.
         */
        patch: operations["timemachine_api_sessions_change"];
        trace?: never;
    };
    "/api/sessions/{session_id}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's actions
         * @description The session's actions in order, in full. `metadata` is a field (`env`, `customer.id`) or a field and its value (`env=prod`).
         */
        get: operations["timemachine_api_actions_index"];
        put?: never;
        /**
         * Append actions
         * @description One action, or up to 1,000 in `actions`: all are recorded, durably and in order, or none.
         *
         *     An action whose `id` the session has already is that action, and the same `Idempotency-Key` again gets the first answer: both
         *     can be sent again. If one differs from the action of its id, the recorded one stays, and `differing` lists the places in the request,
         *     from 0, of those that were therefore not recorded. A call with a model and tokens but no cost is priced. 429 (`busy`) says that nothing was recorded, and `Retry-After` when to send it again.
         */
        post: operations["timemachine_api_actions_append"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/actions/{sequence}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One action
         * @description One action, whole; `erased` lists its fields that were erased, if any.
         *
         *     Its significance and importance are those in force; if they were changed, `recorded` has the recorded ones.
         */
        get: operations["timemachine_api_actions_read"];
        put?: never;
        post?: never;
        /**
         * Delete a step
         * @description Delete all that a step says, for a `reason`: a tombstone with who, when and why replaces it. This cannot be undone.
         *
         *     What repeats it word for word in the session, its replays and what was made of them is deleted, too. The answer is the erasure: `done`, or 202
         *     and `erasing` while a worker processes a long session. The step's place, kind, times and numbers stay, and the seal stays verifiable.
         */
        delete: operations["timemachine_api_actions_delete"];
        options?: never;
        head?: never;
        /**
         * Change the significance of an action
         * @description Change the significance or the importance of an action without changing the record or its seal. The change is stored with its author.
         *
         *     The answer is the action with what is in force, and `recorded`.
         */
        patch: operations["timemachine_api_actions_change"];
        trace?: never;
    };
    "/api/sessions/{session_id}/actions/{sequence}/judgements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an answer's judgements
         * @description Every judgement of this step, oldest first.
         */
        get: operations["timemachine_api_judgements_index"];
        put?: never;
        /**
         * Let a model judge an answer
         * @description Ask a model which sentences of a recorded answer the recorded passages support. The call is paid.
         *
         *     The answer comes when the model has answered. A model that fails, or answers what cannot be read, makes a judgement whose
         *     `state` is `failed` and whose `error` says why. The recorded session is not changed.
         */
        post: operations["timemachine_api_judgements_make"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/actions/{sequence}/judgements/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Estimate the cost of a judgement
         * @description The estimated cost of letting this model judge the step. No model is called.
         */
        get: operations["timemachine_api_judgements_estimate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/actions/{sequence}/judgements/{judgement_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One judgement
         * @description One judgement, with the complete messages that were sent.
         */
        get: operations["timemachine_api_judgements_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/actions/{sequence}/judgements/{judgement_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a judgement
         * @description End a running judgement, even while its provider is not responding. It may have been billed.
         */
        post: operations["timemachine_api_judgements_cancel_judgement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/actions/{sequence}/request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The request of a model call
         * @description What the model was sent: as it was recorded, or put together from the steps before it, with what is absent.
         *
         *     `form` is the API whose form the `body` has. 422 (`not_a_model_call`) for any other step.
         */
        get: operations["timemachine_api_actions_read_request"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/actions/{sequence}/trials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the trials of one step
         * @description The trials of this step, newest first, each a replay of it.
         */
        get: operations["timemachine_api_replays_trials"];
        put?: never;
        /**
         * Try one step with a change
         * @description Run this find or ask again with a change, in the background. Follow it at /api/replays/{id}.
         */
        post: operations["timemachine_api_replays_try_again"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/ask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask and record
         * @description Find passages and ask a model over them; both are recorded, as of the session's agent unless `agent` is given. It can cost money: the key needs `run` too.
         *
         *     With `"stream": true`, or `Accept: text/event-stream`, the answer is a stream of events: `begun` (the ask's id, by which it can
         *     be cancelled), `hits`, `waiting` when the model is busy and will be asked again later, `text` as it is written, then `done` with the whole answer in one document, or `error`.
         *     The same `Idempotency-Key` again asks no model: it gets the first answer, in one piece, or the error that was recorded.
         */
        post: operations["timemachine_api_asks_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/branches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the branches of a session
         * @description The session with all that it branched from and all that branched from those: each after its parent, `depth` below the first.
         *
         *     `complete` is false if there are more than 100 sessions above, or more than 500 below the first of those.
         */
        get: operations["timemachine_api_sessions_branches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A session's checkpoints
         * @description The session's checkpoints in their order, with their states.
         */
        get: operations["timemachine_api_sessions_checkpoints"];
        put?: never;
        /**
         * Set a checkpoint
         * @description A named action with the agent's state, of the session's agent unless `agent` is given. Repeating the same `Idempotency-Key` returns the first answer.
         */
        post: operations["timemachine_api_sessions_checkpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/compression": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The effect of compressing a session
         * @description How many steps and tokens keep their importance and how many drop to 0.30, whether the session is compressed, and its compression history.
         */
        get: operations["timemachine_api_transcripts_read_compression"];
        put?: never;
        /**
         * Compress a session
         * @description Lower the importance of its exploratory turns to 0.30; its decisions, solutions and breakthroughs stay as they are, and so does the record.
         *
         *     The session must have ended. Sent again it changes nothing.
         */
        post: operations["timemachine_api_transcripts_compress"];
        /**
         * Undo the compression of a session
         * @description Restore the previous importance of every step. The project's rule will not compress this session again.
         */
        delete: operations["timemachine_api_transcripts_undo"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/continue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue from a model call
         * @description Continue the session from this model call in the background. Follow it at /api/replays/{id}. Tool calls are answered from the record and never executed. The result names the branch session.
         */
        post: operations["timemachine_api_replays_go_on_from_call"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a session
         * @description End a session, after the asks that are running in it are recorded; ending it twice is the same as once.
         *
         *     `ended_at` in the body says when it ended, if that was not now: not before it started.
         */
        post: operations["timemachine_api_sessions_end"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's erasures
         * @description The erasures of a session, including those that were not confirmed, newest first.
         */
        get: operations["timemachine_api_deletion_list_erasures"];
        put?: never;
        /**
         * Prepare an erasure
         * @description Either `redaction`, a profile whose matches are to be erased, or `fields` by their paths (of `steps`, or of every step). Nothing is erased yet.
         *
         *     `status` is `looking` until all steps have been read, then `found` with a `preview`; a worker reads a long session.
         */
        post: operations["timemachine_api_deletion_prepare_erasure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a session's evidence (zip)
         * @description Everything that was recorded and everything needed to check it without this server. See README.txt in the zip.
         */
        get: operations["timemachine_api_evidence_of_session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a session as a file
         * @description The session as it is at this moment, also while it is recording: `Last-Sequence` is the last step in the file.
         *
         *     `format` is `timemachine` (the default; importing it gives an equal session), `atif`, `otlp_json` or `zip`.
         */
        get: operations["timemachine_api_sessions_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find and record
         * @description Find passages. Every hit is frozen into the record, as an action of the session's agent unless `agent` is given.
         */
        post: operations["timemachine_api_asks_find"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's notes
         * @description The session's notes in the order of their steps, and the notes of one step oldest first.
         */
        get: operations["timemachine_api_actions_list_notes"];
        put?: never;
        /**
         * Pin a note to a step
         * @description Add a note of 1 to 2,000 characters to a step; the recorded session is not changed.
         */
        post: operations["timemachine_api_actions_add_note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/notes/{note_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a note
         * @description Delete a note's text. Who deleted it and when is stored. A key can delete its own notes, a key with `admin` any note.
         */
        delete: operations["timemachine_api_actions_delete_note"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List significance suggestions
         * @description The significance that rules suggest for steps without one, each with its rule and its reason.
         *
         *     The rules: `first_error`, `error_gone` (what the agent did last before a call that had failed succeeded and failed no more), and by wording
         *     `decision`, `hypothesis`, `root_cause`, `solved`. `read` is how many steps were looked at, the first of the session.
         */
        get: operations["timemachine_api_actions_proposals"];
        put?: never;
        /**
         * Accept or dismiss a suggestion
         * @description With `accept` the step gets the suggested significance; without it, the suggestion is dismissed permanently. The answer is the action.
         */
        post: operations["timemachine_api_actions_answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/put": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put and record
         * @description Put passages into the session's collection. Each is recorded as an action of the session's agent unless `agent` is given.
         */
        post: operations["timemachine_api_asks_put"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Launch a replay
         * @description Replay the session in the background. Follow it at /api/replays/{id}. Several models make a comparison of audit replays.
         */
        post: operations["timemachine_api_replays_launch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/replays/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate the cost of a replay
         * @description The estimated cost of the replay that the same request would launch, for each of its models, or its refusal. No model is called.
         */
        post: operations["timemachine_api_replays_estimate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume from a checkpoint
         * @description What the agent knew at a checkpoint, exactly; at the last one if none is named. Nothing is recorded.
         *
         *     To continue in a session of its own, start one whose `parent` is the `parent` of the answer.
         */
        post: operations["timemachine_api_sessions_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/seal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The seal of a session
         * @description How much of the session is sealed, by which key, and the result of the last check.
         */
        get: operations["timemachine_api_evidence_seal_of_session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/seal/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a session's seal
         * @description Compare the complete session in the database with its seal; a worker compares a long session.
         */
        post: operations["timemachine_api_evidence_check_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The state at a step
         * @description What was known at step `at`: messages (including system prompts, but not exchanges between tools and the system), frames used, running totals.
         */
        get: operations["timemachine_api_sessions_state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's summaries
         * @description The frames that are summaries of the session, newest first.
         */
        get: operations["timemachine_api_transcripts_summaries"];
        put?: never;
        /**
         * Put a summary of a session into a collection
         * @description Create a frame that is searchable like any other, with the steps it cites. `local:extractive-5` quotes the most important turns; a named
         *     model is given the turns that fit into 6,000 tokens; the call is paid. Repeated, it becomes a new version of the same frame. It needs the scopes `run` and `record`.
         */
        post: operations["timemachine_api_transcripts_summarise_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Summarise a session
         * @description Counts, tokens, cost, duration, iterations, tools, models and errors of a session.
         *
         *     `judgements` says what was spent on judging its answers, which is no part of the session and in none of its totals;
         *     `notes` how many notes are pinned to its steps.
         */
        get: operations["timemachine_api_sessions_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/sweeps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's sweeps
         * @description The sweeps of the session, newest first.
         */
        get: operations["timemachine_api_replays_list_sweeps"];
        put?: never;
        /**
         * Launch a sweep
         * @description Measure every setting of a grid over the session's finds and asks; follow it at /api/sweeps/{id}.
         */
        post: operations["timemachine_api_replays_launch_sweep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/totals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The totals of a session's steps
         * @description Time, tokens, cost, calls and errors of the steps that `filter` shows (all without one), and the same by kind, tool, model or agent, the longest first.
         *
         *     `duration_ms` adds up what each of the `timed_actions` recorded: a step that contains others counts theirs too; null if none recorded any. `share` is
         *     that of the whole time, 0 to 1. A row of null is for the steps that name none; its `filter` shows only them. Costs leave the `unknown_cost_calls` out.
         */
        get: operations["timemachine_api_sessions_totals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The transcript of a session
         * @description Every turn in its order, at any length, or those that match: by significance, role, kind, tag, least importance. `assistant` and `model` are the
         *     role `agent`, `human` is `user` and `developer` is `system`.
         *
         *     `budget` is the maximum number of tokens: the most important turns that fit, in their order. `as` is `json` (the turns as they were
         *     recorded), `text` (for a prompt) or `messages` (for a chat model). The answer says how many turns and tokens of those recorded it has, and
         *     in `tokens.marks` how many more the marks in the text take, which are in the budget: `kept` and `marks` together are no more than it, except that if no
         *     turn fits, the one mark that reports this is returned alone. Marks show where turns are left out. If it cannot be sent to its end, its last line is `cut off`, which makes JSON invalid.
         */
        get: operations["timemachine_api_transcripts_transcript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/weights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes of significance in a session
         * @description Every change of a step's significance and importance, newest first: to what (null means back to what was recorded), by whom and when.
         */
        get: operations["timemachine_api_actions_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/where": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The rank of a frame
         * @description The rank of a frame (by number), or of the frames that contain a sentence, in every mode, as recorded and now.
         */
        get: operations["timemachine_api_replays_where_is_it"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List share links
         * @description The project's links, newest first, without their secrets.
         */
        get: operations["timemachine_api_shares_index"];
        put?: never;
        /**
         * Create a share link
         * @description Create a link. Its URL is only in this response.
         *
         *     For a link without a profile, `warning` says how many places the built-in profile would withhold, and of how many steps; the link is created all the same.
         *     The first 128 KB are searched, for two seconds at most; `POST /shares/preview` of the same request searches more, and creates nothing.
         */
        post: operations["timemachine_api_shares_make"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shares/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The policy for share links
         * @description Whether links are turned off, whether they need a passphrase, and their maximum lifetime in days. Every change is logged.
         */
        get: operations["timemachine_api_shares_read_policy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the policy for share links
         * @description Fields that are left out are not changed. While links are turned off, existing ones do not work.
         */
        patch: operations["timemachine_api_shares_change_policy"];
        trace?: never;
    };
    "/api/shares/policy/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes to the policy for share links
         * @description The policy's log, newest first, as a hash chain.
         */
        get: operations["timemachine_api_shares_policy_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shares/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview what a share link would show and withhold
         * @description What the link of the same request would show, with the same checks. No link is created. At most 500 steps are read; `read` says how many were.
         *
         *     `counts` says by rule how often something is withheld, `first` how the first places would read. With `evidence_only` no step is read.
         */
        post: operations["timemachine_api_shares_preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shares/{share_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a share link
         * @description Revoke a link permanently, effective from the next request.
         */
        delete: operations["timemachine_api_shares_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/shares/{share_id}/opens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The access log of a share link
         * @description The link's access log, newest first, as a hash chain. `log` is the result of checking it from the first line.
         */
        get: operations["timemachine_api_shares_opens"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/suites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List suites
         * @description The project's suites by name, each with its latest run.
         */
        get: operations["timemachine_api_suites_index"];
        put?: never;
        /**
         * Create a suite
         * @description Store a named set of sessions with replay options. Run it at /api/suites/{id}/runs or on a schedule.
         */
        post: operations["timemachine_api_suites_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/suites/{suite_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One suite
         * @description A suite by its id or name, with its latest run, and who changed it.
         */
        get: operations["timemachine_api_suites_read"];
        put?: never;
        post?: never;
        /**
         * Delete a suite
         * @description Delete a suite and its reports; the replays of its runs stay with their sessions.
         */
        delete: operations["timemachine_api_suites_delete"];
        options?: never;
        head?: never;
        /**
         * Edit a suite
         * @description Change the fields that are sent; `options` are replaced completely. Earlier runs keep their options.
         */
        patch: operations["timemachine_api_suites_edit"];
        trace?: never;
    };
    "/api/suites/{suite_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A suite's runs
         * @description The runs of a suite, newest first.
         */
        get: operations["timemachine_api_suites_runs"];
        put?: never;
        /**
         * Run a suite
         * @description Replay all of its sessions in the background; follow the run at /api/suites/{id}/runs/{number}.
         */
        post: operations["timemachine_api_suites_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/suites/{suite_id}/runs/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate the cost of a run
         * @description The estimated cost of a run launched now, by model. No model is called.
         */
        post: operations["timemachine_api_suites_estimate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/suites/{suite_id}/runs/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One run
         * @description The progress and results of a run (a number or `latest`), with its replays and what was left out.
         */
        get: operations["timemachine_api_suites_read_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/suites/{suite_id}/runs/{number}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run
         * @description Stop every replay of a run. Running calls end within a few seconds and may have been billed.
         */
        post: operations["timemachine_api_suites_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/suites/{suite_id}/runs/{number}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What changed
         * @description Every step of the run next to the same step of the previous run; `change` names one kind of change, or `changed` for all.
         *
         *     There is no report while the run is in progress. See the run for its progress.
         */
        get: operations["timemachine_api_suites_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sweeps/{sweep_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One sweep
         * @description How far a sweep is, and the result of each setting.
         */
        get: operations["timemachine_api_replays_read_sweep"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sweeps/{sweep_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a sweep
         * @description Stop a sweep. What was measured stays.
         */
        post: operations["timemachine_api_replays_cancel_sweep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/training": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Training pairs
         * @description JSON lines from ended sessions with a turn of significance `solution` or `breakthrough`, set by the recorder or by a person.
         *
         *     `form` is `chat` (`{"messages": […]}`, OpenAI's for fine-tuning) or `dpo` (`prompt`, `chosen`, `rejected`; one for each attempt that the record
         *     shows to be rejected). `what` tells the problem and its `resolution`, or the whole `chain`. `part` is one of `train`, `valid` and `test`, by a
         *     hash of `seed` and the session's id along `shares`. What the `redaction` profile finds is withheld.
         */
        get: operations["timemachine_api_training_pairs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/training/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count training pairs
         * @description How many pairs and sessions each part has, by which rule attempts were rejected, what was withheld, what was left out and why, and the `first` pairs.
         *
         *     Sessions that would take too long to read are `unread`: they are in the pairs, but in none of these numbers.
         */
        get: operations["timemachine_api_training_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Which of a session's actions are listed; an empty text matches any, and an action must match all filters. */
        ActionFilter: {
            after?: string | null;
            /**
             * @default
             * @enum {string}
             */
            kind?: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint" | "";
            /**
             * @default
             * @enum {string}
             */
            layer?: "agent" | "tool" | "sys" | "";
            /** @default 50 */
            limit?: number;
            /** @default  */
            metadata?: string;
            min_importance?: number | null;
            /** @default  */
            model?: string;
            /**
             * @default
             * @enum {string}
             */
            role?: "user" | "agent" | "system" | "tool" | "";
            /**
             * @default
             * @enum {string}
             */
            significance?: "normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough" | "";
            /** @default  */
            tag?: string;
            /** @default  */
            tool?: string;
        };
        /** @description One action, as "An action in JSON" describes it. */
        ActionIn: {
            agent?: string | null;
            cached?: boolean | null;
            cached_from?: components["schemas"]["CachedFromIn"] | null;
            call_id?: string | null;
            copied_from?: components["schemas"]["CopiedFromIn"] | null;
            cost_usd?: number | string | null;
            duration_ms?: number | null;
            error?: components["schemas"]["ErrorIn"] | null;
            grounding?: {
                [key: string]: unknown;
            } | null;
            id?: string | null;
            importance?: number | null;
            input?: unknown;
            iteration?: number | null;
            kind: string;
            layer?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            model?: string | null;
            name?: string | null;
            output?: unknown;
            parameters?: {
                [key: string]: unknown;
            } | null;
            parent?: number | string | null;
            prices?: {
                [key: string]: unknown;
            } | null;
            retrieval?: components["schemas"]["RetrievalIn"] | null;
            role?: string | null;
            saved_usd?: number | string | null;
            significance?: string | null;
            started_at?: string | null;
            tags?: string[];
            tool?: string | null;
            usage?: components["schemas"]["UsageIn"] | null;
        };
        /** @description Actions of a session in their order. */
        ActionPage: {
            items: components["schemas"]["ReadAction"][];
            next: string | null;
        };
        /** @description One action, or several in `actions`. */
        ActionsIn: {
            actions?: components["schemas"]["ActionIn"][] | null;
            agent?: string | null;
            cached?: boolean | null;
            cached_from?: components["schemas"]["CachedFromIn"] | null;
            call_id?: string | null;
            copied_from?: components["schemas"]["CopiedFromIn"] | null;
            cost_usd?: number | string | null;
            duration_ms?: number | null;
            error?: components["schemas"]["ErrorIn"] | null;
            grounding?: {
                [key: string]: unknown;
            } | null;
            id?: string | null;
            importance?: number | null;
            input?: unknown;
            iteration?: number | null;
            kind?: string | null;
            layer?: string | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            model?: string | null;
            name?: string | null;
            output?: unknown;
            parameters?: {
                [key: string]: unknown;
            } | null;
            parent?: number | string | null;
            prices?: {
                [key: string]: unknown;
            } | null;
            retrieval?: components["schemas"]["RetrievalIn"] | null;
            role?: string | null;
            saved_usd?: number | string | null;
            significance?: string | null;
            started_at?: string | null;
            tags?: string[];
            tool?: string | null;
            usage?: components["schemas"]["UsageIn"] | null;
        };
        /** @description The steps of one agent. */
        AgentLine: {
            actions: number;
            agent: string | null;
            calls: number;
            cost_usd: number | null;
            errors: number;
            filter: string | null;
            input_tokens: number | null;
            output_tokens: number | null;
            share: number | null;
            steps_ms: number | null;
            timed_actions: number;
            tool_calls: number;
            unknown_cost_calls: number;
        };
        /**
         * @description Two runs with their totals, where they part first, how many pairs there are of each status, and a page of the pairs.
         *
         *     `first_divergence` is null if no such step is found.
         */
        AlignmentOut: {
            a: components["schemas"]["SideOut"];
            b: components["schemas"]["SideOut"];
            /** @enum {string} */
            compared: "finds_and_asks" | "steps";
            counts: {
                [key: string]: number;
            };
            first_divergence: components["schemas"]["DivergenceOut"] | null;
            items: components["schemas"]["StepPairOut"][];
            next: string | null;
        };
        /** @description Turns and their tokens. */
        AmountOut: {
            tokens: number;
            turns: number;
        };
        /** @description A witness or timestamp authority: how many entries of the log it has, since when, and the last error. */
        AnchorOut: {
            error: string | null;
            failed_at: string | null;
            set_at: string;
            set_by: string;
            size: number;
            taken_at: string | null;
            url: string;
        };
        /** @description Addresses of a witness (C2SP's `tlog-witness`) and of a timestamp authority (RFC 3161); an empty one removes it. */
        AnchorsIn: {
            timestamp?: string | null;
            witness?: string | null;
        };
        /** @description The witness and the timestamp authority of a project, each null if not set, and the key that a witness needs to know. */
        AnchorsOut: {
            timestamp: components["schemas"]["AnchorOut"] | null;
            witness: components["schemas"]["AnchorOut"] | null;
            witness_key: string;
        };
        /** @description Whether the answer cache is on. */
        AnswerCacheChange: {
            on: boolean;
        };
        /** @description How many answers were removed from the cache. */
        AnswerCacheEmptied: {
            removed: number;
        };
        /** @description Whether the answer cache is on, since when, how many answers it holds, and how many bytes these have. */
        AnswerCacheOut: {
            answers: number;
            bytes: number;
            changed_at: string | null;
            changed_by: string | null;
            most_bytes: number;
            on: boolean;
        };
        /** @description How many answers are requested, have ended and are there, and how many have each status that occurs. */
        AnswerCounts: {
            answered: number;
            cancelled?: number;
            done?: number;
            failed?: number;
            finished: number;
            running?: number;
            skipped?: number;
            total: number;
            uncertain?: number;
            waiting?: number;
        };
        /** @description An answer and the passages that should support it. */
        AnswerIn: {
            answer: string;
            context: string[];
        };
        /** @description What a model call answered, whatever the form of its output: its text and the tools that it called, and on one line. */
        AnswerOut: {
            calls: components["schemas"]["CalledTool"][];
            line: string;
            text: string | null;
        };
        /** @description The sequences of the actions that were sent, in their order. */
        AppendedOut: {
            differing?: number[];
            sequences: number[];
        };
        /** @description The turns around a result, with how many of the session are left out before each and after the last. */
        AroundOut: {
            items: components["schemas"]["TurnAround"][];
            left_out_after: number;
        };
        /**
         * @description A recorded ask or model call with its answers: the recorded one, then those of the arms, run by run.
         *
         *     `label` is the question of an ask, or the name of a model call.
         */
        AskCells: {
            cells: components["schemas"]["CellOut"][];
            /** @enum {string} */
            kind: "ask" | "llm_call";
            label: string;
            sequence: number;
            session: string;
        };
        /** @description The asks and model calls of a comparison in their order. */
        AskCellsPage: {
            items: components["schemas"]["AskCells"][];
            next: string | null;
        };
        /** @description A question, how to look for passages, and which model answers over them. */
        AskIn: {
            /** @default false */
            adaptive?: boolean;
            as_of?: string | null;
            cliff?: number | null;
            embedding_model?: string | null;
            max_tokens?: number | null;
            min_score?: number | null;
            /**
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "semantic" | "lexical";
            /** @default false */
            no_cache?: boolean;
            question: string;
            relative?: number | null;
            seed?: number | null;
            /** @default false */
            stream?: boolean;
            system_prompt?: string | null;
            temperature?: number | null;
            /** @default 8 */
            top_k?: number;
            /** @default  */
            use_model?: string;
        };
        /** @description The answer of a model over what was found, and the step where a session recorded it. */
        AskOut: {
            adaptive: boolean;
            answer: string | null;
            as_of: string;
            below: components["schemas"]["BelowOut"] | null;
            cached: boolean;
            cached_from: {
                [key: string]: unknown;
            } | null;
            cost_usd: number | null;
            curve: components["schemas"]["CurveOut"];
            cut_by: string;
            cut_off: boolean | null;
            duration_ms: number | null;
            embedding_model: string | null;
            empty: components["schemas"]["EmptyOut"] | null;
            finish_reason: string | null;
            grounding: {
                [key: string]: unknown;
            } | null;
            hits: components["schemas"]["FrameHitOut"][];
            min_score: number | null;
            /** @enum {string} */
            mode: "hybrid" | "semantic" | "lexical";
            model: string;
            not_embedded: number | null;
            parameters: {
                [key: string]: unknown;
            };
            prices: {
                [key: string]: unknown;
            } | null;
            refused: boolean | null;
            saved_usd: number | null;
            semantic_search: ("exact" | "hnsw") | null;
            sequence: number | null;
            thresholds: components["schemas"]["ThresholdsOut"] | null;
            top_k: number;
            usage: components["schemas"]["UsageOut"] | null;
        };
        /** @description An ask whose model has not answered yet. */
        AskUnderWayOut: {
            cancel_wanted: boolean;
            id: string;
            question: string;
            session: string | null;
            started_at: string;
        };
        /** @description Asks whose models have not answered yet, the oldest first. */
        AsksUnderWay: {
            items: components["schemas"]["AskUnderWayOut"][];
            next: string | null;
        };
        /** @description An attempt at a step: which worker made it, when, and how it ended. */
        AttemptOut: {
            call_intended_at: string | null;
            calls_made: number | null;
            cost_usd: number | null;
            finished_at: string | null;
            number: number;
            outcome: string | null;
            started_at: string;
            worker: string;
        };
        /** @description The first line of the chain that does not match, by the number that it should have, and why. */
        AuditBreak: {
            sequence: number;
            why: string;
        };
        /**
         * @description How many lines the chain has, the hash of the last, and the first that does not match; `broken` is null if all do.
         *
         *     `waiting` is the number of new events that are not yet in the signed evidence log. They are after about a minute.
         */
        AuditCheck: {
            broken: components["schemas"]["AuditBreak"] | null;
            lines: number;
            sha256: string | null;
            waiting: number;
        };
        /**
         * @description One event: who did what to which object, and from where.
         *
         *     `actor` is an e-mail address, `key` and the name of an API key, or another name that docs/audit-log.md lists; it is empty for a failed sign-in. `sequence`, `previous_sha256` and
         *     `sha256` are the event's place in the project's chain; they are null for up to a minute.
         */
        AuditEventOut: {
            action: string;
            actor: string;
            address: string | null;
            at: string;
            facts: {
                [key: string]: unknown;
            } | null;
            id: number;
            previous_sha256: string | null;
            request_id: string | null;
            sequence: number | null;
            sha256: string | null;
            target_id: string;
            target_type: string;
        };
        /** @description Events of the audit log, newest first. */
        AuditPage: {
            items: components["schemas"]["AuditEventOut"][];
            next: string | null;
        };
        /** @description The first frame below the cut-off. */
        BelowOut: {
            frame: number;
            score: number;
            title: string | null;
            version: number;
        };
        /** @description How often the bootstrap resamples, and its seed. */
        Bootstrap: {
            resamples: number;
            seed: number;
        };
        /** @description A session among its branches; `depth` is how many of the listed sessions are above it. */
        BranchOut: {
            actions: number;
            agent: string | null;
            cached_calls: number;
            collection: string | null;
            continues: components["schemas"]["ContinuesOut"] | null;
            cost_usd: number | null;
            created_at: string;
            created_by: string;
            depth: number;
            duration_ms: number | null;
            ended_at: string | null;
            errors: number;
            id: string;
            imported_as: string | null;
            input_tokens: number | null;
            key: string;
            metadata: {
                [key: string]: unknown;
            };
            name: string;
            output_tokens: number | null;
            parent: components["schemas"]["ParentOut"] | null;
            parent_awaited: components["schemas"]["ParentAwaitedOut"] | null;
            parent_deleted: components["schemas"]["ParentDeletedOut"] | null;
            saved_usd: number | null;
            started_at: string | null;
            /** @enum {string} */
            status: "recording" | "ended";
            tags: string[];
            unknown_cost_calls: number;
            unknown_saved_calls: number;
            url: string;
            user: string | null;
        };
        /** @description A session with all that it branched from and all that branched from those; `complete` is false where some are left out. */
        BranchesOut: {
            complete: boolean;
            items: components["schemas"]["BranchOut"][];
        };
        /** @description The ask that a cached answer was first given to; without a session it was asked outside one. */
        CachedFromIn: {
            at?: string | null;
            call_ms?: number | null;
            sequence?: number | null;
            session?: string | null;
            usage?: components["schemas"]["UsageIn"] | null;
        };
        /** @description The model calls of one agent, or those that called one tool, for each variant. A call of several tools is in several groups. */
        CallGroup: {
            arms: components["schemas"]["GroupVariant"][];
            /** @enum {string} */
            by: "agent" | "tool";
            name: string | null;
        };
        /** @description Tokens of one call, as stored with it. */
        CallUsageOut: {
            /** @default 0 */
            cache_write_1h_tokens?: number | null;
            cache_write_tokens: number | null;
            cached_tokens: number | null;
            input_tokens: number | null;
            output_tokens: number | null;
            reasoning_tokens: number | null;
            total_tokens: number | null;
        };
        /** @description A tool that a model called, with its arguments: JSON, or the text that the model wrote if that is not JSON. */
        CalledTool: {
            arguments: unknown;
            name: string;
        };
        /** @description That a call of a model is to be cancelled. */
        CancelOut: {
            cancel_wanted: boolean;
            id: string;
        };
        /** @description An answer: the recorded one (arm 0), or that of an arm's run; `missing` says why the answer is missing. */
        CellOut: {
            arm: number;
            cached: boolean;
            cost_usd: number | null;
            cut_off: boolean;
            error: string | null;
            grounding: number | null;
            grounding_label: string | null;
            latency_ms: number | null;
            marks: components["schemas"]["MarkOut"][];
            missing: string | null;
            opinions: components["schemas"]["OpinionOut"][];
            refused: boolean;
            replay: string | null;
            run: number;
            status: string;
            tokens: number | null;
            verdict: string | null;
        };
        /** @description The sum of a number over the `steps` that have it in both runs: in the run before, and in this one. */
        Change: {
            after: number | null;
            before: number | null;
            steps: number;
        };
        /** @description A message for a chat model. */
        ChatMessage: {
            content: string;
            role: string;
        };
        /** @description A point from which an agent can resume, with its state, and a name if it needs one. */
        CheckpointIn: {
            agent?: string | null;
            name?: string | null;
            state?: {
                [key: string]: unknown;
            };
        };
        /** @description The checkpoint that a session is resumed from; `at` is null where its time is not recorded. */
        CheckpointNamed: {
            at: string | null;
            name: string | null;
            sequence: number;
        };
        /** @description The checkpoint that was set. */
        CheckpointOut: {
            name: string | null;
            sequence: number;
        };
        /** @description A new collection. */
        CollectionIn: {
            name: string;
        };
        /** @description A collection. `frames` is how many current frames it has, null if they were not counted. */
        CollectionOut: {
            created_at: string;
            created_by: string;
            embedding_model: string;
            frames: number | null;
            name: string;
        };
        /** @description Collections by name. */
        CollectionPage: {
            items: components["schemas"]["CollectionOut"][];
            next: string | null;
        };
        /** @description The answers of one arm; arm 0 is the recording. `missing` counts the answers that are not there, by reason. */
        ColumnOut: {
            agreement: number | null;
            agreement_interval: components["schemas"]["IntervalOut"] | null;
            answers: number;
            arm: number;
            cost: components["schemas"]["SpreadOut"];
            grounding: number | null;
            grounding_interval: components["schemas"]["IntervalOut"] | null;
            latency: components["schemas"]["SpreadOut"];
            missing: {
                [key: string]: number;
            };
            same_arguments: number | null;
            same_arguments_interval: components["schemas"]["IntervalOut"] | null;
            same_tools: number | null;
            same_tools_interval: components["schemas"]["IntervalOut"] | null;
            tokens: components["schemas"]["SpreadOut"];
            unknown_cost: number;
            verdicts: {
                [key: string]: number;
            };
        };
        /** @description All of a comparison: its results and its cells. */
        ComparisonFile: {
            answers: components["schemas"]["AnswerCounts"];
            arms: components["schemas"]["VariantOut"][];
            asks: number;
            cells: components["schemas"]["AskCells"][];
            columns: components["schemas"]["ColumnOut"][] | null;
            cost_usd: number;
            created_at: string;
            groups: components["schemas"]["CallGroup"][];
            id: string;
            judges: components["schemas"]["JudgesOut"];
            method: components["schemas"]["Method"];
            missing_answers: components["schemas"]["MissingAnswers"][];
            model_calls: number;
            noise: components["schemas"]["VariantPairOut"][] | null;
            noise_floor: boolean;
            over_limit_usd: number | null;
            pairs: components["schemas"]["VariantPairOut"][] | null;
            partings: components["schemas"]["Parting"][];
            reason: string;
            repeats: number;
            replay_ids: components["schemas"]["ReplayOfVariant"][];
            replays: {
                [key: string]: number;
            };
            requested_by: string;
            results: components["schemas"]["ResultsState"];
            spend_limit_usd: number | null;
            /** @enum {string} */
            status: "queued" | "running" | "done" | "failed" | "cancelled";
            summary: string | null;
            uncertain_calls: number;
            unknown_cost_calls: number;
            waiting: components["schemas"]["WaitingOut"];
        };
        /** @description What to compare. `repeats` is how often each arm is asked; `noise_floor` asks it once more, against itself. */
        ComparisonIn: {
            arms: components["schemas"]["VariantIn"][];
            /** @default false */
            noise_floor?: boolean;
            reason?: string | null;
            /** @default 1 */
            repeats?: number;
            sessions: string[];
            spend_limit_usd?: number | null;
        };
        /** @description The ids of a comparison that was launched and of its replays. */
        ComparisonLaunched: {
            comparison_id: string;
            replay_ids: string[];
        };
        /** @description What is compared, and how far it is. Money is US dollars. */
        ComparisonOut: {
            answers: components["schemas"]["AnswerCounts"];
            arms: components["schemas"]["VariantOut"][];
            cost_usd: number;
            created_at: string;
            id: string;
            judges: components["schemas"]["JudgesOut"];
            noise_floor: boolean;
            over_limit_usd: number | null;
            reason: string;
            repeats: number;
            replays: {
                [key: string]: number;
            };
            requested_by: string;
            spend_limit_usd: number | null;
            /** @enum {string} */
            status: "queued" | "running" | "done" | "failed" | "cancelled";
            uncertain_calls: number;
            unknown_cost_calls: number;
            waiting: components["schemas"]["WaitingOut"];
        };
        /** @description Comparisons of the project, the newest first. */
        ComparisonPage: {
            items: components["schemas"]["ComparisonOut"][];
            next: string | null;
        };
        /**
         * @description The comparison with its replays, its columns, and each two of them compared; null if nothing was computed.
         *
         *     `summary` is the result in one sentence. `asks` and `model_calls` count the steps that are compared.
         *     `partings` say where each run over a session first does something else than the recording.
         *     `missing_answers` are each arm's most frequent reasons why answers are missing, at most three.
         */
        ComparisonResults: {
            answers: components["schemas"]["AnswerCounts"];
            arms: components["schemas"]["VariantOut"][];
            asks: number;
            columns: components["schemas"]["ColumnOut"][] | null;
            cost_usd: number;
            created_at: string;
            groups: components["schemas"]["CallGroup"][];
            id: string;
            judges: components["schemas"]["JudgesOut"];
            method: components["schemas"]["Method"];
            missing_answers: components["schemas"]["MissingAnswers"][];
            model_calls: number;
            noise: components["schemas"]["VariantPairOut"][] | null;
            noise_floor: boolean;
            over_limit_usd: number | null;
            pairs: components["schemas"]["VariantPairOut"][] | null;
            partings: components["schemas"]["Parting"][];
            reason: string;
            repeats: number;
            replay_ids: components["schemas"]["ReplayOfVariant"][];
            replays: {
                [key: string]: number;
            };
            requested_by: string;
            results: components["schemas"]["ResultsState"];
            spend_limit_usd: number | null;
            /** @enum {string} */
            status: "queued" | "running" | "done" | "failed" | "cancelled";
            summary: string | null;
            uncertain_calls: number;
            unknown_cost_calls: number;
            waiting: components["schemas"]["WaitingOut"];
        };
        /** @description The sessions that ended this many days ago or more; with `preview` they are only counted. */
        CompressOlderIn: {
            older_than_days: number;
            /** @default false */
            preview?: boolean;
        };
        /** @description How many sessions were compressed, or would be where `compressed` is false. */
        CompressedOut: {
            compressed: boolean;
            sessions: number;
        };
        /** @description That a session was compressed or that this was undone, by whom (`by_rule`: by whose rule) and when. */
        CompressionChangeOut: {
            at: string;
            by: string;
            by_rule: boolean;
            compressed: boolean;
        };
        /**
         * @description What compressing a session does, or did: the turns that stay as they are, and those that fall to an importance of 0.30.
         *
         *     `through` is the last compressed step, null where the session is not compressed.
         */
        CompressionOut: {
            compressed: boolean;
            estimated: boolean;
            falls: components["schemas"]["AmountOut"];
            history: components["schemas"]["CompressionChangeOut"][];
            kept: components["schemas"]["AmountOut"];
            through: number | null;
        };
        /** @description How many days after their end sessions are compressed automatically; null for never. */
        CompressionRuleIn: {
            days: number | null;
        };
        /** @description How many days after their end sessions are compressed automatically, null for never, and who set that. */
        CompressionRuleOut: {
            at: string | null;
            by: string | null;
            days: number | null;
        };
        /** @description How many steps have which verdict on their frozen context. */
        ContextCounts: {
            altered: number;
            missing: number;
            not_recorded: number;
            reconstructed: number;
            verified: number;
        };
        /**
         * @description The model call that was continued, the session that it records into (null if that was deleted), and how it
         *     ended (null while it goes on).
         */
        ContinuationOut: {
            branch: string | null;
            ending: components["schemas"]["Ending"] | null;
            finding: string | null;
            sequence: number;
        };
        /**
         * @description The model call to continue from, the model, and what to change. `messages` are sent instead of the recorded ones;
         *     a result of one of the `repeatable_tools` can be used more than once. What the user wrote next in the recording is sent after
         *     an answer that agrees with the recorded one (`user_messages`: `agreed`, the default), after any answer at the same place
         *     (`recorded`), or never (`none`).
         */
        ContinueIn: {
            from: number;
            max_calls?: number | null;
            messages?: {
                [key: string]: unknown;
            }[] | null;
            model: string;
            reason?: string | null;
            repeatable_tools?: string[] | null;
            spend_limit_usd?: number | null;
            system_prompt?: string | null;
            user_messages?: ("agreed" | "recorded" | "none") | null;
        };
        /** @description What the branch of a continuation continues: the session and its model call, with which model, and the id of the replay. */
        ContinuesOut: {
            model: string;
            replay: string;
            session: string;
            step: number;
        };
        /** @description The session by its key, and the step in it by its id or sequence, that a step was copied from; null if unknown. */
        CopiedFromIn: {
            session?: string | null;
            step?: number | string | null;
        };
        /** @description The session by its key, and the step in it by its id or sequence, that a step was copied from; null if unknown. */
        CopiedFromOut: {
            session: string | null;
            step: number | string | null;
        };
        /** @description The sums of one agent; null for steps without one. */
        CostOfAgent: {
            actions: number;
            agent: string | null;
            cached_calls: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            input_tokens: number | null;
            output_tokens: number | null;
            p50_ms: number | null;
            p95_ms: number | null;
            saved_usd: number | null;
            timed_calls: number;
            tool_calls: number;
            unknown_cost_calls: number;
            unknown_saved_calls: number;
        };
        /** @description The sums of one day, in UTC. */
        CostOfDay: {
            actions: number;
            cached_calls: number;
            calls: number;
            cost_usd: number | null;
            day: string;
            errors: number;
            input_tokens: number | null;
            output_tokens: number | null;
            p50_ms: number | null;
            p95_ms: number | null;
            saved_usd: number | null;
            timed_calls: number;
            tool_calls: number;
            unknown_cost_calls: number;
            unknown_saved_calls: number;
        };
        /** @description The sums of one model; null for steps without one. */
        CostOfModel: {
            actions: number;
            cached_calls: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            input_tokens: number | null;
            model: string | null;
            output_tokens: number | null;
            p50_ms: number | null;
            p95_ms: number | null;
            saved_usd: number | null;
            timed_calls: number;
            tool_calls: number;
            unknown_cost_calls: number;
            unknown_saved_calls: number;
        };
        /** @description What replays cost on these days, continuations included; it is not part of the totals. */
        CostOfReplays: {
            cost_usd: number;
            uncertain_calls: number;
            unknown_cost_calls: number;
        };
        /** @description The sums of the sessions with one tag. */
        CostOfTag: {
            actions: number;
            cached_calls: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            input_tokens: number | null;
            output_tokens: number | null;
            p50_ms: number | null;
            p95_ms: number | null;
            saved_usd: number | null;
            tag: string | null;
            timed_calls: number;
            tool_calls: number;
            unknown_cost_calls: number;
            unknown_saved_calls: number;
        };
        /** @description The sums of one tool, and which share of its calls failed. */
        CostOfTool: {
            actions: number;
            cached_calls: number;
            calls: number;
            cost_usd: number | null;
            error_share: number | null;
            errors: number;
            input_tokens: number | null;
            output_tokens: number | null;
            p50_ms: number | null;
            p95_ms: number | null;
            saved_usd: number | null;
            timed_calls: number;
            tool: string | null;
            tool_calls: number;
            unknown_cost_calls: number;
            unknown_saved_calls: number;
        };
        /**
         * @description The sums over all steps that match, and how many sessions have any of them. `unknown_reasons` has the number of calls
         *     for each reason why a cost is unknown.
         */
        CostTotals: {
            actions: number;
            cached_calls: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            input_tokens: number | null;
            output_tokens: number | null;
            p50_ms: number | null;
            p95_ms: number | null;
            saved_usd: number | null;
            sessions: number;
            timed_calls: number;
            tool_calls: number;
            unknown_cost_calls: number;
            unknown_reasons: {
                [key: string]: number;
            };
            unknown_saved_calls: number;
        };
        /** @description Which recorded work is added up, and by what; an empty text matches any. `since` and `until` are days in UTC, both included. */
        CostsIn: {
            after?: string | null;
            /** @default  */
            agent?: string;
            /** @default model */
            by?: string;
            /** @default 50 */
            limit?: number;
            /** @default  */
            model?: string;
            /** @default  */
            since?: string;
            /** @default  */
            tag?: string;
            /** @default  */
            tool?: string;
            /** @default  */
            until?: string;
        };
        /** @description Totals and one page of the rows of a group. `replays` is null if the request has a filter. */
        CostsOut: {
            /** @enum {string} */
            by: "agent" | "model" | "tag" | "day" | "tool";
            items: components["schemas"]["CostOfAgent"][] | components["schemas"]["CostOfModel"][] | components["schemas"]["CostOfTag"][] | components["schemas"]["CostOfDay"][] | components["schemas"]["CostOfTool"][];
            next: string | null;
            replays: components["schemas"]["CostOfReplays"] | null;
            since: string;
            totals: components["schemas"]["CostTotals"];
            undated: components["schemas"]["UndatedCosts"];
            until: string;
        };
        /** @description The scores that the cut-off looked at, best first, and how many were kept. */
        CurveOut: {
            kept: number;
            leg: string;
            scores: number[];
        };
        /**
         * @description The deletion of an earlier session with the same key: when, by whom and why.
         *
         *     `summaries` are those that stay in collections; null for deletions from before that was recorded.
         */
        DeletedBefore: {
            at: string;
            by: string | null;
            reason: string | null;
            summaries: components["schemas"]["RemainingSummary"][] | null;
        };
        /** @description Why the sessions are deleted. */
        DeletionConfirmation: {
            /** @default  */
            reason?: string;
        };
        /** @description Which sessions are to be deleted. */
        DeletionIn: {
            filter: components["schemas"]["SessionSelection"];
        };
        /**
         * @description A bulk deletion: the sessions that it found, and what happened to them.
         *
         *     `held` sessions are under legal hold and stay. `every` is whether it found all sessions of the project, null if that was not
         *     looked up. A summary of each of the `summarised` sessions stays in a collection.
         */
        DeletionOut: {
            confirmed_at: string | null;
            confirmed_by: string | null;
            deleted_turns: number;
            every: boolean | null;
            filter: components["schemas"]["SelectionOut"];
            finished_at: string | null;
            held: number;
            id: string;
            reason: string | null;
            requested_at: string;
            requested_by: string;
            rule: string | null;
            sessions: number;
            states: components["schemas"]["StateCounts"];
            /** @enum {string} */
            status: "found" | "running" | "done" | "cancelled";
            summarised: number;
            turns: number;
        };
        /** @description Bulk deletions, newest first. */
        DeletionPage: {
            items: components["schemas"]["DeletionOut"][];
            next: string | null;
        };
        /** @description A session of a bulk deletion; `key` and `name` are null once it is deleted. */
        DeletionSession: {
            key: string | null;
            name: string | null;
            problem: string | null;
            session: string;
            /** @enum {string} */
            state: "waiting" | "erased" | "held" | "changed" | "gone" | "failed";
            summarised: boolean;
            turns: number;
        };
        /** @description The sessions of a bulk deletion. */
        DeletionSessions: {
            items: components["schemas"]["DeletionSession"][];
            next: string | null;
        };
        /** @description What the demo created. `share_url` is known only when it is created; `new` is false if the demo was there already. */
        DemoOut: {
            new: boolean;
            replays: components["schemas"]["DemoReplay"][];
            session: components["schemas"]["DemoSession"];
            share_url: string | null;
        };
        /** @description Whether there was a demo to remove. */
        DemoRemoved: {
            removed: boolean;
        };
        /** @description A replay of the demo's session and the address of its page. */
        DemoReplay: {
            id: string;
            /** @enum {string} */
            kind: "debug" | "audit";
            url: string;
        };
        /** @description The demo's session and the address of its page. */
        DemoSession: {
            id: string;
            url: string;
        };
        /** @description The first pair of steps in which two runs do something else, and what differs; a side is null if it has none there. */
        DivergenceOut: {
            a: number | null;
            b: number | null;
            why: string;
        };
        /**
         * @description A seal before the current one, by its state with the most records, and why it was replaced.
         *
         *     `replaced_by`, `reason` and `erased_fields` are about the erasure; null if the subject ran again.
         */
        EarlierSeal: {
            /** @enum {string} */
            because: "run_again" | "erasure";
            erased_fields: number | null;
            generation: number;
            log_entry: number | null;
            reason: string | null;
            replaced_at: string | null;
            replaced_by: string | null;
            root: string;
            sealed_at: string;
            size: number;
        };
        /** @description The embedding model that a collection is to have. */
        EmbeddingIn: {
            model: string;
        };
        /** @description How many of a collection's frames are embedded; every version of a frame counts, also those that are not current. */
        EmbeddingOut: {
            collection: string;
            embedded: number;
            embedding_model: string;
            frames: number;
            refused: components["schemas"]["FramesRefused"] | null;
            target: components["schemas"]["EmbeddingTarget"] | null;
            trouble: components["schemas"]["EmbeddingTrouble"] | null;
        };
        /** @description The model that is to replace the collection's own, how many frames it has embedded, and who asked for it. */
        EmbeddingTarget: {
            embedded: number;
            embedding_model: string;
            refused: components["schemas"]["FramesRefused"] | null;
            requested_at: string;
            requested_by: string;
        };
        /** @description Why the last attempt to embed failed, and when the next one is. */
        EmbeddingTrouble: {
            again_at: string | null;
            code: string;
            message: string;
        };
        /** @description Why nothing could be found: the collection had no frames at that moment. */
        EmptyOut: {
            first_frame_at: string | null;
            message: string;
            /** @enum {string} */
            why: "no_frames_yet" | "no_frames_then" | "no_frames_left";
        };
        /**
         * @description How a continuation ended: why, after how many model calls, and how many tool results and messages of the user came from the
         *     record or from a person.
         *
         *     `recorded_calls` is the number of model calls in the recording from the same one on. `unused_results` are the recorded
         *     ones that were not asked for. Both are null if the recording was not read. `step` is the last model call in the branch,
         *     `detail` an error message or another reason. `next_message` is the step of the recording with the user's next message, if
         *     the run waits for one.
         */
        Ending: {
            calls: number;
            detail: string | null;
            next_message: number | null;
            recorded_calls: number | null;
            recorded_messages: number;
            recorded_results: number;
            step: number | null;
            supplied_messages: number;
            supplied_results: number;
            unanswered: components["schemas"]["UnansweredCall"][];
            unused_results: number | null;
            /** @enum {string} */
            why: "finished" | "diverged" | "user_message" | "call_limit" | "spend_limit" | "cut_off" | "failed" | "not_sent";
        };
        /** @description How many sealed fields were erased, when last, and whether that was after the last check. */
        ErasedOfSeal: {
            at: string | null;
            fields: number;
            since_check: boolean;
        };
        /** @description A place in a step (null: in the session itself) from which something is to be erased, and its text afterwards. */
        ErasedPlace: {
            field: string;
            sequence: number | null;
            text: string;
        };
        /** @description Why it is erased. */
        ErasureConfirmation: {
            reason: string;
        };
        /** @description What an erasure removes, in numbers and names. Nothing here quotes what is erased. */
        ErasureCounts: {
            collections: string[];
            counts: components["schemas"]["RuleCount"][];
            elsewhere: components["schemas"]["PlaceCount"][];
            fields: number;
            fields_of: components["schemas"]["FieldsOf"];
            first_steps: number[];
            kept_by_others: number;
            of_session: string[];
            of_steps: components["schemas"]["FieldCount"][];
            replay_steps: number;
            steps: number;
            summaries: components["schemas"]["RemainingSummary"][];
        };
        /** @description What is to be erased from a session: what a redaction profile matches, or fields by their paths, of some steps or of all. */
        ErasureIn: {
            fields?: string[];
            redaction?: string | null;
            steps?: number[];
        };
        /** @description An erasure: what was chosen, what it would remove (`preview`), and what it removed (`result`). */
        ErasureOut: {
            confirmed_at: string | null;
            confirmed_by: string | null;
            fields: string[];
            finished_at: string | null;
            first?: components["schemas"]["ErasedPlace"][];
            id: string;
            preview: components["schemas"]["ErasureCounts"] | null;
            problem: string | null;
            reason: string | null;
            redaction: components["schemas"]["ProfileVersion"] | null;
            requested_at: string;
            requested_by: string;
            result: components["schemas"]["ErasureCounts"] | null;
            session: string;
            /** @enum {string} */
            status: "looking" | "found" | "erasing" | "done";
            steps: number[];
        };
        /** @description The erasures of a session, newest first. */
        ErasurePage: {
            items: components["schemas"]["ErasureOut"][];
            next: string | null;
        };
        /**
         * @description Why a request was refused: `code` for programs (docs/errors.md lists them), `message` for people, `facts` for both.
         *
         *     `request_id` is also in the header `X-Request-ID`, and in the server's log.
         */
        Error: {
            code: string;
            facts: {
                [key: string]: unknown;
            };
            message: string;
            request_id: string | null;
        };
        /** @description What went wrong in a step. */
        ErrorIn: {
            message?: string | null;
            type?: string | null;
        };
        /**
         * @description About what a replay would cost with one model, null: with the recorded ones.
         *
         *     `steps` counts what would be repeated, `kinds` the same by kind (`ask`, `find`, `llm_call`), `calls` the asks and model calls among it that would be sent. `cost_usd` leaves out the
         *     `unknown_cost_calls`, whose reasons are in `unknown_reasons`. It lies between `least_usd` and `most_usd` if the answers are half to twice as
         *     long as expected; with `max_tokens`, that is the longest. `guessed_calls` are those whose tokens were not recorded, or that would send
         *     something else.
         */
        EstimateOut: {
            calls: number;
            cost_usd: number;
            guessed_calls: number;
            input_tokens: number;
            kinds: {
                [key: string]: number;
            };
            least_usd: number;
            model: string | null;
            most_usd: number;
            output_tokens: number;
            steps: number;
            unknown_cost_calls: number;
            unknown_reasons: {
                [key: string]: number;
            };
        };
        /** @description An estimate for each model. */
        Estimates: {
            estimates: components["schemas"]["EstimateOut"][];
        };
        /** @description An error of a step or a model call: its class and its message. */
        FailureOut: {
            message: string | null;
            type: string | null;
        };
        /** @description In how many steps a field is erased. */
        FieldCount: {
            count: number;
            field: string;
        };
        /**
         * @description A field whose content was erased, by the name that its seal has for it.
         *
         *     `commitment` is the hash that it was sealed under, null where it was not sealed yet.
         */
        FieldErased: {
            commitment: string | null;
            erased_at: string;
            erased_by: string | null;
            field: string;
            log_index: number | null;
            reason: string | null;
        };
        /** @description How many sealed fields are erased in the session and in its replays; `…_again` had been erased in part before. */
        FieldsOf: {
            replays: number;
            replays_again: number;
            session: number;
            session_again: number;
        };
        /** @description Why a worker could not read or record a file. */
        FileFailure: {
            code: string;
            message: string;
        };
        /**
         * @description An import that a worker carries out: `done` of `total` actions are recorded; `total` is null until the file was read.
         *
         *     Sessions that were deleted since are not listed.
         */
        FileImportOut: {
            done: number;
            error: components["schemas"]["FileFailure"] | null;
            format: string;
            import_id: string;
            name: string;
            report: components["schemas"]["ImportReportOut"] | null;
            sessions: components["schemas"]["SessionImported"][];
            /** @enum {string} */
            status: "waiting" | "running" | "done" | "failed";
            total: number | null;
        };
        /** @description A passage that was put; `start` and `end` count characters of the file's text. They are null if the file has no such text (JSONL). */
        FilePassage: {
            already_there: boolean;
            end: number | null;
            frame: number;
            page: unknown;
            sha256: string;
            start: number | null;
            title: string;
            version: number;
        };
        /** @description A file that was put immediately: its passages, and the sequences of the steps if a session recorded them. */
        FilePutOut: {
            frames: components["schemas"]["FilePassage"][];
            report: components["schemas"]["PutReport"];
            sequences: number[];
            source: components["schemas"]["SourceOut"] | null;
        };
        /** @description A query, and how to search. */
        FindIn: {
            /** @default false */
            adaptive?: boolean;
            as_of?: string | null;
            cliff?: number | null;
            embedding_model?: string | null;
            min_score?: number | null;
            /**
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "semantic" | "lexical";
            query: string;
            relative?: number | null;
            /** @default 8 */
            top_k?: number;
        };
        /** @description The result of a find, and the step where a session recorded it. `empty` is null unless there was nothing to find. */
        FindOut: {
            adaptive: boolean;
            as_of: string;
            below: components["schemas"]["BelowOut"] | null;
            curve: components["schemas"]["CurveOut"];
            cut_by: string;
            embedding_model: string | null;
            empty: components["schemas"]["EmptyOut"] | null;
            hits: components["schemas"]["FrameHitOut"][];
            min_score: number | null;
            /** @enum {string} */
            mode: "hybrid" | "semantic" | "lexical";
            not_embedded: number | null;
            semantic_search: ("exact" | "hnsw") | null;
            sequence: number | null;
            thresholds: components["schemas"]["ThresholdsOut"] | null;
            top_k: number;
        };
        /** @description What a rule withholds of a text: characters `start` to before `end`. */
        FindingOut: {
            end: number;
            rule: string;
            start: number;
            what: string;
        };
        /**
         * @description The first replayed step in which the replay does something else than the recording, and its verdict, also `in_words`.
         *
         *     `earlier_unanswered` counts the recorded steps of its kind before it that have no answer in the replay. Unless it is 0,
         *     one of them may be the first that differs.
         */
        FirstDivergence: {
            /** @default 0 */
            earlier_unanswered?: number;
            in_words: string;
            sequence: number;
            verdict: string;
        };
        /** @description A frame that was edited by hand while `beside`, another frame, has its old text from the file; both are current. */
        FrameEdited: {
            beside: number;
            frame: number;
            title: string;
        };
        /** @description A frame that the file ended. `edited` is true if its last version was written by hand over a passage of a file. */
        FrameEnded: {
            edited: boolean;
            frame: number;
            title: string;
            version: number;
        };
        /** @description A frame that was found: its score in the mode, the raw scores by keyword and by meaning, and what it shares with the question. */
        FrameHitOut: {
            frame: number;
            matched: components["schemas"]["MatchedOut"] | null;
            metadata: {
                [key: string]: unknown;
            };
            rank: number;
            score: number;
            scores: {
                [key: string]: number;
            };
            sha256: string;
            text: string;
            title: string;
            uri: string;
            version: number;
        };
        /** @description A passage to put; `frame` names the frame that it is a new version of. */
        FrameIn: {
            frame?: number | null;
            metadata?: {
                [key: string]: unknown;
            };
            text: string;
            /** @default  */
            title?: string;
            /** @default  */
            uri?: string;
        };
        /** @description A frame that has another rank. */
        FrameMoved: {
            frame: number | string;
            from: number;
            to: number;
        };
        /** @description One version of a frame with its text. `valid_until`, `ended_by` and `deleted_by` are null while it is current. */
        FrameOut: {
            deleted_by: string | null;
            ended_by: ("update" | "delete" | "replace") | null;
            frame: number;
            metadata: {
                [key: string]: unknown;
            };
            put_by: string;
            sha256: string;
            source: components["schemas"]["FrameSource"] | null;
            text: string;
            title: string;
            uri: string;
            valid_from: string;
            valid_until: string | null;
            version: number;
        };
        /** @description The frames of a collection by number. */
        FramePage: {
            items: components["schemas"]["FrameOut"][];
            next: string | null;
        };
        /** @description A file that has a version of a frame as a passage, and where in its text, in characters. */
        FramePlace: {
            created_at: string;
            end: number | null;
            id: string;
            name: string;
            start: number | null;
            uri: string;
            url: string;
            version: number;
        };
        /** @description A frame that was put; `already_there` where the same passage was in the collection, and nothing was added. */
        FramePut: {
            already_there: boolean;
            frame: number;
            sha256: string;
            title: string;
            version: number;
        };
        /**
         * @description The rank of a frame in one mode, and which cut would leave it in; a null rank: the mode does not rank it.
         *
         *     `needs` are the settings with which an adaptive cut-off would leave it in; null if it does, or if none would.
         */
        FrameRankInMode: {
            by_adaptive: boolean;
            by_top_k: boolean;
            needs: {
                [key: string]: number;
            } | null;
            of: number;
            rank: number | null;
            score: number | null;
        };
        /** @description The rank that was recorded of a frame, and its places then and now; null if the frame did not exist. `says` has it in words. */
        FrameRanksOut: {
            as_now: components["schemas"]["FrameStanding"] | null;
            as_recorded: components["schemas"]["FrameStanding"] | null;
            frame: number;
            recorded_rank: number | null;
            says: string;
        };
        /**
         * @description A frame whose rank is sought: it was `named`, it `holds` the sentence, or it is `nearest` to it.
         *
         *     `versions` are those that hold the sentence, the latest first; null if no sentence was searched for. `says` has it in words.
         */
        FrameSought: {
            /** @enum {string} */
            by: "named" | "holds" | "nearest";
            frame: number;
            says: string;
            title: string | null;
            versions: number[] | null;
        };
        /** @description Where a frame came from: `start` and `end` count characters of the file's text, and `url` shows the passage there. */
        FrameSource: {
            end: number | null;
            id: string;
            media_type: string;
            name: string;
            page: unknown;
            start: number | null;
            title: string;
            uri: string;
            url: string;
        };
        /** @description The version that a frame had at a moment, and its place in each mode that ranked it. */
        FrameStanding: {
            hybrid?: components["schemas"]["FrameRankInMode"];
            lexical?: components["schemas"]["FrameRankInMode"];
            semantic?: components["schemas"]["FrameRankInMode"];
            version: number;
        };
        /** @description The sessions that used a frame, the latest first. With `at_least`, there may be more sessions and steps than counted. */
        FrameUsage: {
            at_least: boolean;
            count: number;
            sessions: components["schemas"]["FrameUsedIn"][];
            steps: number;
        };
        /** @description A frame that was retrieved up to a step, and the step that retrieved it first. */
        FrameUsed: {
            first_used: number;
            frame: number | string | null;
            title: string | null;
            version: number | null;
        };
        /** @description A session that found a frame or asked a model over it: in how many steps, and in which one last. */
        FrameUsedIn: {
            key: string;
            last_step: number;
            last_used_at: string;
            name: string;
            session: string;
            steps: number;
            url: string;
        };
        /** @description The versions of a frame, the first one first, with the files that have any of them and the sessions that used the frame. */
        FrameVersions: {
            files: components["schemas"]["FramePlace"][];
            frame: number;
            next: string | null;
            used_by: components["schemas"]["FrameUsage"];
            versions: components["schemas"]["FrameOut"][];
        };
        /** @description How many frames the model's server refused, the number of the latest one, and the server's reason. */
        FramesRefused: {
            count: number;
            frame: number;
            reason: string;
        };
        /** @description The most frequent error: how its message begins, and how many steps failed with it. */
        FrequentError: {
            message: string;
            steps: number;
        };
        /**
         * @description A recorded passage, with the hash that was recorded and the one that its stored bytes have now.
         *
         *     `since` is the later change of the frame in its collection: `unchanged`, `updated` or `deleted`.
         */
        FrozenFrameOut: {
            frame: number | string | null;
            rank: number;
            sha256: string | null;
            sha256_now: string | null;
            since: string | null;
            /** @enum {string} */
            verdict: "verified" | "reconstructed" | "altered" | "missing" | "not_recorded";
            version: number | null;
        };
        /**
         * @description The request of a recorded model call, in the form of one API.
         *
         *     `context` says whether it was recorded (`verified`: its bytes have the recorded hash) or rebuilt from the steps
         *     before it (`reconstructed`); it was sent to `model`. `absent` names what was not recorded. `calls_in_text`: its agent
         *     writes its tool calls as text, so that no tool is defined. `steps` are those it was rebuilt from, and
         *     `inherited_steps` counts those of the sessions that this one continues. `sha256` is that of the request in a
         *     form that depends on no API. `dropped` says what the body does not have because that API does not know it.
         */
        FrozenRequestOut: {
            absent: string[];
            body: {
                [key: string]: unknown;
            };
            calls_in_text: boolean;
            /** @enum {string} */
            context: "verified" | "altered" | "missing" | "reconstructed" | "not_recorded";
            dropped: string[];
            /** @enum {string} */
            form: "openai_chat" | "openai_responses" | "anthropic_messages";
            inherited_steps: number;
            model: string | null;
            sequence: number;
            sha256: string;
            steps: number[];
        };
        /**
         * @description What a continuation that stopped needs to go on: the missing results, the user's next message, or higher limits.
         *
         *     The message is a text, or the recorded one if `recorded_message` is true.
         */
        GoOnIn: {
            max_calls?: number | null;
            message?: string | null;
            /** @default false */
            recorded_message?: boolean;
            results?: components["schemas"]["ResultIn"][];
            spend_limit_usd?: number | null;
        };
        /**
         * @description The values to combine; `as_of` is the collection as it was at each step, or `now`.
         *
         *     Without `embedding_models`, the collection's own is used.
         */
        Grid: {
            /**
             * @default [
             *       false,
             *       true
             *     ]
             */
            adaptive?: boolean[];
            /**
             * @default recorded
             * @enum {string}
             */
            as_of?: "recorded" | "now";
            /** @default [] */
            embedding_models?: string[];
            /**
             * @default [
             *       "hybrid",
             *       "semantic",
             *       "lexical"
             *     ]
             */
            modes?: ("hybrid" | "semantic" | "lexical")[];
            /**
             * @default [
             *       4,
             *       8,
             *       16
             *     ]
             */
            top_k?: number[];
        };
        /** @description An answer and the passages that should support it, or several in `items`. */
        GroundIn: {
            answer?: string | null;
            context?: string[] | null;
            items?: components["schemas"]["AnswerIn"][] | null;
        };
        /** @description How far an answer is supported by its context, sentence by sentence. */
        GroundingOut: {
            grounded_sentences: number;
            has_warning: boolean;
            label: ("HIGH" | "MEDIUM" | "LOW") | null;
            method: string;
            score: number | null;
            sentence_count: number;
            sentences: components["schemas"]["SentenceOut"][];
            unread_characters: components["schemas"]["UnreadOut"];
        };
        /** @description The grounding of several answers, in their order. */
        GroundingPage: {
            items: components["schemas"]["GroundingOut"][];
            next: string | null;
        };
        /** @description How far one variant agrees with the recorded calls of a group. None: there is no call to say it of. */
        GroupVariant: {
            arm: number;
            calls: number;
            same_action: number | null;
            same_arguments: number | null;
            same_tools: number | null;
        };
        /** @description One passage that a step retrieved. */
        HitIn: {
            frame?: number | string | null;
            matched?: {
                [key: string]: unknown;
            } | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            rank: number;
            score?: number | null;
            scores?: {
                [key: string]: number;
            } | null;
            sha256?: string | null;
            text?: string | null;
            title?: string | null;
            uri?: string | null;
            version?: number | null;
        };
        /** @description A passage that a step retrieved, as it was then. */
        HitOut: {
            frame: number | string | null;
            matched: {
                [key: string]: unknown;
            } | null;
            metadata: {
                [key: string]: unknown;
            } | null;
            rank: number;
            score: number | null;
            scores: {
                [key: string]: number;
            } | null;
            sha256: string | null;
            text: string | null;
            title: string | null;
            uri: string | null;
            version: number | null;
        };
        /** @description The scores by keyword (`text`) and by meaning (`semantic`), each absent if the step was not found by it. */
        HitScores: {
            semantic?: number;
            text?: number;
        };
        /** @description A legal hold with its first 100 sessions. */
        HoldDetails: {
            filter: components["schemas"]["SelectionOut"] | null;
            first: components["schemas"]["SessionHeld"][];
            held_still: number | null;
            id: string;
            placed_at: string;
            placed_by: string;
            reason: string;
            release_reason: string | null;
            released_at: string | null;
            released_by: string | null;
            sessions: number | null;
        };
        /** @description A hold to place: sessions by ids or keys, or a filter, and the reason. With `dry_run` they are only counted. */
        HoldIn: {
            /** @default false */
            dry_run?: boolean;
            filter?: components["schemas"]["SessionSelection"] | null;
            /** @default  */
            reason?: string;
            sessions?: string[];
        };
        /** @description A legal hold: `sessions` were placed under it, `held_still` are still under it; null if they were not counted. */
        HoldOut: {
            filter: components["schemas"]["SelectionOut"] | null;
            held_still: number | null;
            id: string;
            placed_at: string;
            placed_by: string;
            reason: string;
            release_reason: string | null;
            released_at: string | null;
            released_by: string | null;
            sessions: number | null;
        };
        /** @description Legal holds, newest first. */
        HoldPage: {
            items: components["schemas"]["HoldOut"][];
            next: string | null;
        };
        /** @description What a hold would cover; `filter` is null if the sessions were named. */
        HoldPreview: {
            filter: components["schemas"]["SelectionOut"] | null;
            held: number;
            recording: number;
            sessions: number;
            summarised: number;
            turns: number;
        };
        /** @description The id of an import that a worker carries out. */
        ImportAccepted: {
            import_id: string;
        };
        /** @description The sessions that a file became, and what happened to its lines. */
        ImportOut: {
            report: components["schemas"]["ImportReportOut"];
            sessions: components["schemas"]["SessionImported"][];
        };
        /** @description What happened to every line: `lines` were read, and became actions (counted by kind) or were skipped. */
        ImportReportOut: {
            became: {
                [key: string]: number;
            };
            lines: number;
            notes: string[];
            skipped: components["schemas"]["LineSkipped"][];
        };
        /** @description The id of an intake, by which a worker puts the file. */
        IntakeAccepted: {
            intake_id: string;
        };
        /** @description A file that a worker puts into a collection: `done` of `total` passages are put; `total` is null until the file was read. */
        IntakeOut: {
            collection: string;
            created_at: string;
            done: number;
            error: components["schemas"]["FileFailure"] | null;
            finished_at: string | null;
            id: string;
            name: string;
            put_by: string;
            replace: boolean;
            report: components["schemas"]["PutReport"];
            session: string | null;
            source: string | null;
            /** @enum {string} */
            status: "waiting" | "running" | "done" | "failed";
            title: string;
            total: number | null;
            uri: string;
            url: string;
        };
        /** @description A confidence interval and the method that gave it. */
        IntervalOut: {
            high: number;
            low: number;
            method: string;
        };
        /** @description About what judging the cells would cost, and what that rests on; `cost_usd` is null if the price is unknown. */
        JudgeEstimateOut: {
            basis: string;
            calls: number;
            cells: number;
            cost_usd: number | null;
            input_tokens: number;
            model: string;
            output_tokens: number;
        };
        /** @description A message that was sent to a judge model. */
        JudgeMessage: {
            content: string;
            role: string;
        };
        /** @description The judge model's resolved name, and how many cells it is asked about. */
        JudgeQueued: {
            cells: number;
            model: string;
        };
        /** @description What the judge model said with the answers in one order. */
        JudgeReplyOut: {
            order: string;
            preference: string;
            reason: string;
            relation: string;
        };
        /**
         * @description One sentence in one judgement, next to the recorded grounding; `verdict` is null if the judge model gave none.
         *
         *     `agrees` is null if the grounding says nothing about the sentence, or the quote was not found.
         */
        JudgedSentenceOut: {
            agrees: boolean | null;
            counted_as: string | null;
            frame: number | string | null;
            grounded: boolean | null;
            number: number;
            passage: number | null;
            quote: string | null;
            quote_in: number | null;
            text: string;
            verdict: string | null;
        };
        /** @description A judgement with the messages that were sent. */
        JudgementDetail: {
            answer_sha256: string;
            calls_made: number | null;
            cancel_wanted: boolean;
            cost_usd: number | null;
            created_at: string;
            created_by: string;
            duration_ms: number | null;
            error: components["schemas"]["FailureOut"] | null;
            finished_at: string | null;
            id: string;
            model: string;
            parameters: {
                [key: string]: unknown;
            } | null;
            prices: {
                [key: string]: unknown;
            } | null;
            prompt: components["schemas"]["JudgeMessage"][];
            prompt_sha256: string;
            prompt_template: string;
            raw_answer: unknown;
            sentences: components["schemas"]["JudgedSentenceOut"][];
            sequence: number;
            session: string;
            /** @enum {string} */
            state: "asking" | "done" | "failed" | "lost";
            system_prompt: string;
            usage: components["schemas"]["CallUsageOut"] | null;
            verdicts: components["schemas"]["JudgementVerdicts"];
        };
        /** @description About what a judgement would cost, and what that rests on; `cost_usd` is null if the price is unknown. */
        JudgementEstimate: {
            basis: string;
            cost_usd: number | null;
            input_tokens: number;
            model: string;
            output_tokens: number;
        };
        /** @description The judge model, as `provider:model`. */
        JudgementIn: {
            model: string;
        };
        /** @description What a judge model says about the sentences of a recorded answer. Money is US dollars. */
        JudgementOut: {
            answer_sha256: string;
            calls_made: number | null;
            cancel_wanted: boolean;
            cost_usd: number | null;
            created_at: string;
            created_by: string;
            duration_ms: number | null;
            error: components["schemas"]["FailureOut"] | null;
            finished_at: string | null;
            id: string;
            model: string;
            parameters: {
                [key: string]: unknown;
            } | null;
            prices: {
                [key: string]: unknown;
            } | null;
            prompt_sha256: string;
            prompt_template: string;
            raw_answer: unknown;
            sentences: components["schemas"]["JudgedSentenceOut"][];
            sequence: number;
            session: string;
            /** @enum {string} */
            state: "asking" | "done" | "failed" | "lost";
            usage: components["schemas"]["CallUsageOut"] | null;
            verdicts: components["schemas"]["JudgementVerdicts"];
        };
        /** @description The judgements of a step, the first one first. */
        JudgementPage: {
            items: components["schemas"]["JudgementOut"][];
            next: string | null;
        };
        /** @description How many sentences have which verdict, and in how many the grounding disagrees. */
        JudgementVerdicts: {
            contradicted: number;
            disagree: number;
            not_found: number;
            quote_not_found: number;
            supported: number;
        };
        /** @description How many cells no judge model is asked about any more. */
        JudgesCancelled: {
            cells: number;
        };
        /** @description How many cells judge models were or will be asked about, how far they are, how many gave no verdict, and what that cost. */
        JudgesOut: {
            asking: number;
            busy: components["schemas"]["WaitingOut"];
            cells: number;
            cost_usd: number;
            failed: number;
            unknown_cost_calls: number;
            waiting: number;
        };
        /** @description What was spent on judging a session's answers. It is in no total of the session. */
        JudgingCost: {
            cost_usd: number;
            count: number;
            unknown_cost_calls: number;
        };
        /** @description A new API key; `key` is its secret, which is shown only once. */
        KeyCreated: {
            created_at: string;
            expires_at: string | null;
            id: string;
            key: string;
            last_used_at: string | null;
            name: string;
            revoked_at: string | null;
            scopes: ("read" | "record" | "run" | "share" | "admin")[];
        };
        /** @description An API key to create. Without `expires_at` it expires after 90 days, unless `never_expires` is true. */
        KeyIn: {
            expires_at?: string | null;
            name: string;
            /** @default false */
            never_expires?: boolean;
            scopes: string[];
        };
        /** @description An API key without its secret. */
        KeyOut: {
            created_at: string;
            expires_at: string | null;
            id: string;
            last_used_at: string | null;
            name: string;
            revoked_at: string | null;
            scopes: ("read" | "record" | "run" | "share" | "admin")[];
        };
        /** @description The API keys of a project. */
        KeyPage: {
            items: components["schemas"]["KeyOut"][];
            next: string | null;
        };
        /** @enum {string} */
        Kind: "error" | "question";
        /** @description The steps of one kind. */
        KindLine: {
            actions: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            filter: string | null;
            input_tokens: number | null;
            kind: ("put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint") | null;
            output_tokens: number | null;
            share: number | null;
            steps_ms: number | null;
            timed_actions: number;
            tool_calls: number;
            unknown_cost_calls: number;
        };
        /** @description Which model of a provider answered last, and when. */
        LastAnswerOut: {
            at: string;
            model: string;
        };
        /** @description A line of a file that was skipped, counted from 1, and why. */
        LineSkipped: {
            line: number;
            reason: string;
        };
        /**
         * @description Lines of a file that grows. The first `repeated` ones were recorded before, and are sent again because the response to the
         *     lines before named them in `needed`; `position` is that of this response. `idle` is the number of seconds since the file last grew.
         */
        LinesIn: {
            format: string;
            /** @default 0 */
            idle?: number;
            lines: string[];
            position?: {
                [key: string]: number;
            };
            /** @default 0 */
            repeated?: number;
        };
        /**
         * @description What lines became. The first `lines` of them are recorded; send the others again with what follows them.
         *
         *     Before them, send the lines with the numbers `needed` (from 1), in this order, and count them as `repeated`.
         */
        LinesOut: {
            lines: number;
            needed: number[];
            position: {
                [key: string]: number;
            };
            report: components["schemas"]["ImportReportOut"];
            sessions: components["schemas"]["SessionImported"][];
        };
        /** @description The first line that does not match, by the number that it should have, and why. */
        LogBreak: {
            sequence: number;
            why: string;
        };
        /** @description How many lines a log has, the hash of the last, and the first line that does not match; `broken` is null if all do. */
        LogCheck: {
            broken: components["schemas"]["LogBreak"] | null;
            lines: number;
            sha256: string | null;
        };
        /** @description A line of an access log; its hash covers all of it and the hash of the line before. */
        LogLine: {
            address: string | null;
            at: string;
            browser: string | null;
            by: string | null;
            facts: {
                [key: string]: unknown;
            } | null;
            previous_sha256: string;
            result: string;
            sequence: number;
            sha256: string;
        };
        /** @description Lines of a log, newest first, and the check of the complete log. */
        LogPage: {
            items: components["schemas"]["LogLine"][];
            log: components["schemas"]["LogCheck"];
            next: string | null;
        };
        /** @description A person's rating of a cell: the answer of an arm's run at a recorded ask or model call. */
        MarkIn: {
            arm: number;
            /** @default  */
            note?: string;
            /** @default 1 */
            run?: number;
            sequence: number;
            session: string;
            verdict: string;
        };
        /** @description What a person said of a cell. */
        MarkOut: {
            by: string;
            created_at: string;
            note: string;
            /** @enum {string} */
            verdict: "equivalent" | "contradicts" | "better" | "worse" | "withdrawn";
        };
        /** @description What a question shares with a frame: words and identifiers, each with its part of the BM25 score, the largest first. */
        MatchedOut: {
            identifiers?: {
                [key: string]: number;
            };
            terms?: {
                [key: string]: number;
            };
        };
        /**
         * @description The passage of a step that matches, and in which part of the step it is.
         *
         *     `marks` are the first and the last-but-one character of each marked run. `begins` and `ends`: whether it is the part's begin and end.
         */
        MatchedPassage: {
            begins: boolean;
            ends: boolean;
            in: string;
            marks: number[][];
            text: string;
        };
        /** @description A session in which something was found. */
        MatchedSession: {
            agent: string | null;
            id: string;
            key: string;
            name: string;
            started_at: string | null;
            /** @enum {string} */
            status: "recording" | "ended";
        };
        /** @description The newest `most` sessions of this agent, user and tag, with `q` in their name or key. An empty text matches any. */
        Matching: {
            /** @default  */
            agent?: string;
            /** @default 20 */
            most?: number;
            /** @default  */
            q?: string;
            /** @default  */
            tag?: string;
            /** @default  */
            user?: string;
        };
        /** @description How the statistics are computed, in words. */
        Method: {
            bootstrap: components["schemas"]["Bootstrap"];
            difference: string;
            interval: string;
            latency: string;
            needed: string;
            p_holm: string;
            test: string;
            unit: string;
            verdict: string;
        };
        /** @description How many answers of an arm are missing for the same reason: an error, or why its model was not asked. */
        MissingAnswers: {
            answers: number;
            arm: number;
            reason: string;
        };
        /** @description The steps of one model. */
        ModelLine: {
            actions: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            filter: string | null;
            input_tokens: number | null;
            model: string | null;
            output_tokens: number | null;
            share: number | null;
            steps_ms: number | null;
            timed_actions: number;
            tool_calls: number;
            unknown_cost_calls: number;
        };
        /** @description The operator's prices for a model, in US dollars per million tokens. */
        ModelPrices: {
            model: string;
            per_million_tokens: {
                [key: string]: number;
            };
        };
        /** @description An OpenAI-compatible server to add. */
        ModelServerIn: {
            base_url: string;
            default_model?: string | null;
            key?: string | null;
            name: string;
        };
        /** @description An OpenAI-compatible server of the project, without its key. */
        ModelServerOut: {
            base_url: string;
            default_model: string | null;
            has_key: boolean;
            name: string;
        };
        /** @description The project's own servers. */
        ModelServerPage: {
            items: components["schemas"]["ModelServerOut"][];
            next: string | null;
        };
        /** @description The name of the server that was removed. */
        ModelServerRemoved: {
            removed: string;
        };
        /** @description A model to make one small call to. */
        ModelTestIn: {
            model: string;
        };
        /** @description A test call to a model. `ok` is null while it runs; `words` is the beginning of the answer, or what went wrong. */
        ModelTestOut: {
            at: string;
            by: string;
            cost_usd: number | null;
            duration_ms: number | null;
            error: string | null;
            input_tokens: number | null;
            model: string;
            ok: boolean | null;
            output_tokens: number | null;
            prices: {
                [key: string]: unknown;
            } | null;
            words: string;
        };
        /**
         * @description The recorded call that is most like an unanswered one, and where its arguments differ, as JSON pointers. `step` is that
         *     of the recording in which it was called.
         */
        NearestCall: {
            arguments: string | null;
            paths: string[];
            step: number;
            tool: string;
        };
        /** @description What a replay made of a step. `answer` is null if it is not a model call. */
        NewStep: {
            answer: components["schemas"]["AnswerOut"] | null;
            cost_usd: number | null;
            duration_ms: number | null;
            error: components["schemas"]["FailureOut"] | null;
            grounding: {
                [key: string]: unknown;
            } | null;
            hits: components["schemas"]["ReplayHitOut"][];
            model: string | null;
            output: unknown;
            parameters: {
                [key: string]: unknown;
            } | null;
            prices: {
                [key: string]: unknown;
            } | null;
            usage: components["schemas"]["UsageOut"] | null;
        };
        /** @description Which note was deleted, when and by whom. */
        NoteDeleted: {
            deleted: string;
            deleted_at: string | null;
            deleted_by: string | null;
        };
        /** @description A sentence to pin to a step. */
        NoteIn: {
            sequence: number;
            text: string;
        };
        /** @description A note on a step: what it says, who wrote it and when (RFC 3339), and the address that always leads to it. */
        NoteOut: {
            created_at: string;
            created_by: string;
            id: string;
            sequence: number;
            text: string;
            url: string;
        };
        /** @description Notes of a session, by their steps. */
        NotePage: {
            items: components["schemas"]["NoteOut"][];
            next: string | null;
        };
        /**
         * @description A model that the project can choose: `model` is the default model of its name, `prices` are today's, null if unknown.
         *
         *     `usable` says whether it can be called here. `state` says whether it works, as far as is known, and `remark` why not, or what else
         *     to know. `also_priced` are the operator's prices for other models of the provider.
         */
        OfferOut: {
            also_priced: components["schemas"]["ModelPrices"][];
            base_url: string | null;
            /** @enum {string} */
            key: "project" | "environment" | "none_needed" | "missing";
            key_variable: string | null;
            /** @enum {string} */
            kind: "local" | "built_in" | "server";
            label: string;
            last_answer: components["schemas"]["LastAnswerOut"] | null;
            last_test: components["schemas"]["ModelTestOut"] | null;
            model: string | null;
            prices: {
                [key: string]: unknown;
            } | null;
            provider: string;
            remark: string | null;
            /** @enum {string} */
            state: "yes" | "no" | "not_checked" | "not_reached";
            usable: boolean;
            why_not: string | null;
        };
        /** @description The models that the project can choose. */
        OfferPage: {
            items: components["schemas"]["OfferOut"][];
            next: string | null;
        };
        /** @description An opinion with the messages that were sent, and the raw answers. */
        OpinionDetail: {
            asked: components["schemas"]["JudgeReplyOut"][] | null;
            calls_made: number;
            cost_usd: number | null;
            created_at: string;
            error: components["schemas"]["FailureOut"] | null;
            finished_at: string | null;
            id: string;
            model: string;
            preference: ("better" | "worse" | "neither" | "undecided") | null;
            prompt: unknown;
            prompt_template: string | null;
            raw_answers: unknown;
            relation: ("equivalent" | "contradicts" | "different" | "undecided") | null;
            requested_by: string;
            /** @enum {string} */
            state: "waiting" | "asking" | "done" | "failed" | "lost" | "cancelled";
            unknown_cost_calls: number;
            usage: components["schemas"]["OpinionUsage"] | null;
        };
        /** @description What a judge model said of a cell: over both orders, and in `asked` for each order. */
        OpinionOut: {
            asked: components["schemas"]["JudgeReplyOut"][] | null;
            calls_made: number;
            cost_usd: number | null;
            created_at: string;
            error: components["schemas"]["FailureOut"] | null;
            finished_at: string | null;
            id: string;
            model: string;
            preference: ("better" | "worse" | "neither" | "undecided") | null;
            prompt_template: string | null;
            relation: ("equivalent" | "contradicts" | "different" | "undecided") | null;
            requested_by: string;
            /** @enum {string} */
            state: "waiting" | "asking" | "done" | "failed" | "lost" | "cancelled";
            unknown_cost_calls: number;
            usage: components["schemas"]["OpinionUsage"] | null;
        };
        /** @description The tokens of each call. */
        OpinionUsage: {
            calls: (components["schemas"]["CallUsageOut"] | null)[];
        };
        /** @description The model that is to judge a comparison's cells, or the cell of `session`, `sequence`, `arm` and `run`. */
        OpinionsIn: {
            arm?: number | null;
            model: string;
            /** @default 1 */
            run?: number;
            sequence?: number | null;
            session?: string | null;
        };
        /**
         * @description What the pairs of one metric show. Differences are B − A in the metric's own unit; `sentence` has it in words.
         *
         *     `excluded` counts the pairs without a value, by side and reason. `wins`, `ties` and `losses` are B's. `needed` is how many pairs show
         *     a difference of `matters` with 80% power. `pairs` has the values if there are fewer than six pairs.
         */
        PairedResultOut: {
            difference: number | null;
            dz: number | null;
            excluded: {
                [key: string]: number;
            };
            interval: components["schemas"]["IntervalOut"] | null;
            losses: number;
            matters: number | null;
            mean_a: number | null;
            mean_b: number | null;
            metric: string;
            n: number;
            needed: number | null;
            p: number | null;
            p_exact: boolean;
            p_holm: number | null;
            pairs: number[][];
            rank_biserial: number | null;
            sentence: string;
            sign_p: number | null;
            test: string | null;
            tests: number;
            ties: number;
            verdict: string;
            wins: number;
        };
        /** @description The key of the session that a session branched from, while that has not been recorded here. */
        ParentAwaitedOut: {
            key: string;
            sequence: number | null;
        };
        /** @description The deletion of the session that a session branched from, null where that was not kept, and the step. */
        ParentDeletedOut: {
            sequence: number | null;
            session: string | null;
        };
        /** @description The session and step that a session branched from. */
        ParentIn: {
            sequence: number;
            session: string;
        };
        /** @description The session and step that a session branched from. */
        ParentOut: {
            sequence: number | null;
            session: string;
        };
        /**
         * @description A run of an arm over one session, and the first model call in which it does something else than the recording; null
         *     for a run that does the same throughout.
         */
        Parting: {
            arm: number;
            first_divergence: components["schemas"]["FirstDivergence"] | null;
            replay_id: string;
            run: number;
            session: string;
        };
        /** @description A pattern that met a rule in the window that began at `since`. `told_at` and `problem` are about notifying the rule's `url`. */
        PatternAlertOut: {
            found_at: string;
            id: string;
            pattern: components["schemas"]["PatternNamed"];
            problem: string | null;
            rule: components["schemas"]["PatternRuleOut"];
            seen_at: string | null;
            seen_by: string | null;
            sessions: number;
            since: string;
            told_at: string | null;
        };
        /** @description Alerts, the latest first. */
        PatternAlerts: {
            items: components["schemas"]["PatternAlertOut"][];
            next: string | null;
        };
        /** @description A pattern with its wordings and one page of its sessions, the one that had it last first. */
        PatternDetails: {
            address: string;
            first_seen: string | null;
            id: string;
            items: components["schemas"]["PatternInSession"][];
            kind: components["schemas"]["Kind"];
            last_seen: string | null;
            next: string | null;
            resolution: components["schemas"]["ResolutionOut"] | null;
            sessions: number;
            solved_sessions: number;
            steps: number;
            text: string;
            trend: components["schemas"]["TrendOut"] | null;
            undated_steps: number;
            wordings: components["schemas"]["WordingOut"][];
        };
        /** @description A session with a pattern: in how many steps, the first of them (`sequences`), and what solved it there. `undated_steps` have no time. */
        PatternInSession: {
            first_seen: string | null;
            last_seen: string | null;
            resolution: components["schemas"]["ResolutionOut"] | null;
            sequences: number[];
            session: components["schemas"]["SessionNamed"];
            steps: number;
            undated_steps: number;
        };
        /** @description A pattern as an alert names it. */
        PatternNamed: {
            id: string;
            kind: components["schemas"]["Kind"];
            text: string;
        };
        /**
         * @description An error or a question of several sessions. `resolution` is what solved it last, null if no step shows that.
         *
         *     `undated_steps` were imported without a time: they are in no trend and no alert, and `first_seen` and `last_seen` are null if all steps were.
         */
        PatternOut: {
            address: string;
            first_seen: string | null;
            id: string;
            kind: components["schemas"]["Kind"];
            last_seen: string | null;
            resolution: components["schemas"]["ResolutionOut"] | null;
            sessions: number;
            solved_sessions: number;
            steps: number;
            text: string;
            trend: components["schemas"]["TrendOut"] | null;
            undated_steps: number;
        };
        /** @description Patterns, the one that was seen last first. `not_read` is how many steps of the project have not been read for patterns yet. */
        PatternPage: {
            items: components["schemas"]["PatternOut"][];
            next: string | null;
            not_read: number;
        };
        /** @description The id of the rule that was deleted. */
        PatternRuleDeleted: {
            deleted: string;
        };
        /** @description A rule to create: a pattern is reported once so many sessions have it in one window; without a `kind` errors and questions. */
        PatternRuleIn: {
            kind?: components["schemas"]["Kind"] | null;
            sessions: number;
            /** @default  */
            url?: string;
            /** @enum {string} */
            window: "day" | "week" | "month";
        };
        /** @description A rule: how many sessions in one window, and which kind of pattern (null for both). `url` is notified; null for no notification. */
        PatternRuleOut: {
            created_at: string;
            created_by: string;
            id: string;
            kind: components["schemas"]["Kind"] | null;
            sessions: number;
            url: string | null;
            /** @enum {string} */
            window: "day" | "week" | "month";
        };
        /** @description The rules of a project. */
        PatternRules: {
            items: components["schemas"]["PatternRuleOut"][];
            next: string | null;
        };
        /**
         * @description Which patterns are listed; an empty text matches any, and a pattern must match all filters.
         *
         *     `since` is about when it was last seen: RFC 3339, or a date for the whole day. `similar_to` and `text` go with `kind` only, and are not empty.
         */
        PatternsIn: {
            after?: string | null;
            /**
             * @default
             * @enum {string}
             */
            kind?: "error" | "question" | "";
            /** @default 50 */
            limit?: number;
            /** @default 2 */
            min_sessions?: number;
            /** @default  */
            q?: string;
            /** @default  */
            similar_to?: string;
            /** @default  */
            since?: string;
            /**
             * @default
             * @enum {string}
             */
            solved?: "yes" | "no" | "";
            /** @default  */
            text?: string;
        };
        /** @description How many other rows that repeat the session are rewritten, by the name of their place. */
        PlaceCount: {
            count: number;
            place: string;
        };
        /** @description Why a replay could not be launched. */
        Problem: {
            code: string;
            message: string;
        };
        /** @description A version of a redaction profile. */
        ProfileVersion: {
            name: string;
            version: number;
        };
        /** @description The project of a key, what the key can do, and the server's version. */
        ProjectOut: {
            id: string;
            name: string;
            scopes: ("read" | "record" | "run" | "share" | "admin")[];
            version: string;
        };
        /** @description How many tokens the text for a prompt has, of how many allowed; `least` is what the shortest turn takes if none fits. */
        PromptTokens: {
            budget: number;
            estimated: boolean;
            kept: number;
            least: number | null;
            tokenizer: string;
        };
        /** @description How many turns of how many sessions are in the text for a prompt. */
        PromptTurns: {
            sessions: number;
            turns: number;
        };
        /** @description Whether a proposal is accepted or declined. */
        ProposalAnswer: {
            accept: boolean;
            /** @enum {string} */
            rule: "first_error" | "error_gone" | "decision" | "hypothesis" | "root_cause" | "solved";
            sequence: number;
        };
        /** @description The significance that a rule proposes for a step, and why. */
        ProposalOut: {
            reason: string;
            /** @enum {string} */
            rule: "first_error" | "error_gone" | "decision" | "hypothesis" | "root_cause" | "solved";
            sequence: number;
            /** @enum {string} */
            significance: "normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough";
        };
        /** @description The suggestions of rules for a session. The first `read` of its `recorded` steps were checked. */
        ProposalPage: {
            items: components["schemas"]["ProposalOut"][];
            next: string | null;
            read: number;
            recorded: number;
        };
        /** @description A project's own key for a built-in provider, and which model the provider's name alone then means. */
        ProviderKeyIn: {
            default_model?: string | null;
            /** Format: password */
            key: string;
        };
        /** @description Where a provider's key comes from, never the key. The fields from `last_four` to `readable` are about the project's own key. */
        ProviderKeyOut: {
            base_url: string | null;
            default_model: string | null;
            last_four: string | null;
            provider: string;
            readable: boolean | null;
            set: boolean;
            set_at: string | null;
            set_by: string | null;
            /** @enum {string} */
            source: "project" | "environment" | "none_needed" | "missing";
            variable: string | null;
        };
        /** @description The built-in providers that take a key. */
        ProviderKeyPage: {
            items: components["schemas"]["ProviderKeyOut"][];
            next: string | null;
        };
        /** @description One passage, or several in `frames`. */
        PutIn: {
            frame?: number | null;
            frames?: components["schemas"]["FrameIn"][] | null;
            metadata?: {
                [key: string]: unknown;
            };
            text?: string | null;
            /** @default  */
            title?: string;
            /** @default  */
            uri?: string;
        };
        /** @description The frames that were put, and the sequences of the steps where a session recorded them. */
        PutOut: {
            frames: components["schemas"]["FramePut"][];
            sequences: number[];
        };
        /** @description What happened to a file's passages. At most 20 frames are named in `ended_frames`, and in `edited_frames`. */
        PutReport: {
            already_there: number;
            edited: number;
            edited_frames: components["schemas"]["FrameEdited"][];
            ended: number;
            ended_frames: components["schemas"]["FrameEnded"][];
            new: number;
            skipped: components["schemas"]["LineSkipped"][];
        };
        /**
         * @description The answer to one query: what was read as a time, the remaining search terms, and the turns found, best first.
         *
         *     `nothing` is why there are no results, null if there are.
         */
        QueryRecalled: {
            looked_for: string;
            nothing: string | null;
            query: string;
            ranked_by: string;
            results: components["schemas"]["TurnRecalled"][];
            times: components["schemas"]["TimeReadOut"][];
            unread: components["schemas"]["TimeUnread"][];
        };
        /** @description The frames, and a page of steps with their ranks; `next` is the step to continue after, null at the end. */
        RankPageOut: {
            frames: components["schemas"]["FrameSought"][];
            items: components["schemas"]["StepRanksOut"][];
            next: number | null;
        };
        /**
         * @description One step of a session. `label` is one line that names it, made from what was recorded: of a model call, the tools
         *     that the model called and its words.
         */
        ReadAction: {
            agent: string | null;
            cached: boolean | null;
            cached_from: {
                [key: string]: unknown;
            } | null;
            call_id: string | null;
            copied_from: components["schemas"]["CopiedFromOut"] | null;
            cost_usd: number | null;
            deleted?: components["schemas"]["TurnDeleted"];
            duration_ms: number | null;
            erased?: components["schemas"]["FieldErased"][];
            error: components["schemas"]["FailureOut"] | null;
            grounding: {
                [key: string]: unknown;
            } | null;
            id: string | null;
            importance: number | null;
            input: unknown;
            iteration: number | null;
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            label: string;
            layer: ("agent" | "tool" | "sys") | null;
            metadata: {
                [key: string]: unknown;
            } | null;
            model: string | null;
            name: string | null;
            output: unknown;
            parameters: {
                [key: string]: unknown;
            } | null;
            parent: number | string | null;
            prices: {
                [key: string]: unknown;
            } | null;
            recorded?: components["schemas"]["SignificanceRecorded"];
            retrieval: components["schemas"]["RetrievalOut"] | null;
            role: ("user" | "agent" | "system" | "tool") | null;
            saved_usd: number | null;
            sequence: number;
            significance: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough") | null;
            source?: unknown;
            started_at: string | null;
            tags: string[];
            tool: string | null;
            usage: components["schemas"]["UsageOut"] | null;
            weighed?: components["schemas"]["SignificanceChanged"];
        };
        /**
         * @description Questions to earlier sessions, and which turns are searched; an empty text or list matches any.
         *
         *     `agent` is the step's own, else its session's; of several `tags` (of a step or its session), `kinds` and `significances` one is enough.
         *     `since` and `until` are about the step: RFC 3339, or a date for the whole day. `session` searches one session only; nothing is found in
         *     `besides`, the session that asks, and the last session is the one before it.
         */
        RecallIn: {
            /** @default  */
            agent?: string;
            /** @default 0 */
            around?: number;
            /** @default  */
            besides?: string;
            budget?: number | null;
            kinds?: ("put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint")[];
            /** @default 10 */
            limit?: number;
            min_importance?: number | null;
            /**
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "text" | "semantic";
            /** @default false */
            past_times?: boolean;
            queries: string[];
            /** @default  */
            session?: string;
            significances?: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough")[];
            /** @default  */
            since?: string;
            tags?: string[];
            /** @default true */
            time_words?: boolean;
            /** @default UTC */
            time_zone?: string;
            top_k?: number | null;
            /** @default  */
            until?: string;
            /** @default  */
            user?: string;
        };
        /**
         * @description The answers to the queries, in their order. With a `budget`, `text` is the best turns for a prompt.
         *
         *     `not_indexed` is how many steps cannot be found yet, `no_embeddings` why nothing was compared by meaning, null if it was.
         */
        RecallOut: {
            embedding_model: string | null;
            items: components["schemas"]["QueryRecalled"][];
            /** @enum {string} */
            mode: "hybrid" | "text" | "semantic";
            no_embeddings: string | null;
            not_indexed: number;
            text?: string;
            time_zone: string;
            tokens?: components["schemas"]["PromptTokens"];
            told?: components["schemas"]["PromptTurns"];
        };
        /** @description What was recorded of a step. `answer` is null if it is not a model call. */
        RecordedStep: {
            answer: components["schemas"]["AnswerOut"] | null;
            cost_usd: number | null;
            duration_ms: number | null;
            grounding: {
                [key: string]: unknown;
            } | null;
            input: unknown;
            model: string | null;
            output: unknown;
            parameters: {
                [key: string]: unknown;
            } | null;
            retrieval: {
                [key: string]: unknown;
            } | null;
            usage: components["schemas"]["UsageOut"] | null;
        };
        /** @description A step with marks in place of what is withheld, and the fields that were changed. */
        RedactedStep: {
            action: {
                [key: string]: unknown;
            };
            counts: components["schemas"]["RuleCount"][];
            touched: string[];
        };
        /** @description A text with marks in place of what is withheld. */
        RedactedText: {
            counts: components["schemas"]["RuleCount"][];
            findings: components["schemas"]["FindingOut"][];
            text: string;
        };
        /** @description New rules for a redaction profile. */
        RedactionChange: {
            rules: {
                [key: string]: unknown;
            };
        };
        /** @description A redaction profile to create; `text.redaction.pure.rules.read_rules` reads its rules. */
        RedactionIn: {
            name: string;
            rules: {
                [key: string]: unknown;
            };
        };
        /** @description One version of a redaction profile. The built-in profile has no author and no times. */
        RedactionOut: {
            built_in: boolean;
            created_at: string | null;
            created_by: string | null;
            id: string;
            name: string;
            retired_at: string | null;
            retired_by: string | null;
            rules: components["schemas"]["RedactionRules"];
            version: number;
        };
        /** @description The built-in profile, then the newest version of each profile of the project, by name. */
        RedactionPage: {
            items: components["schemas"]["RedactionOut"][];
            next: string | null;
        };
        /** @description A pattern in RE2 syntax; the mark of what it withholds shows its name. */
        RedactionPattern: {
            ignore_case: boolean;
            name: string;
            pattern: string;
        };
        /** @description What a profile withholds: by detector, by pattern, and the fields by their paths. */
        RedactionRules: {
            detect: string[];
            fields: string[];
            patterns: components["schemas"]["RedactionPattern"][];
            phone_regions: string[];
        };
        /** @description A text or a step of a session, and the profile, or rules, to test on it. */
        RedactionTest: {
            /** @default built-in */
            redaction?: string;
            rules?: {
                [key: string]: unknown;
            } | null;
            sequence?: number | null;
            session?: string | null;
            text?: string | null;
        };
        /** @description How many pairs have an attempt that was rejected by a rule. */
        RejectedBy: {
            pairs: number;
            rule: string;
            says: string;
        };
        /** @description Why sessions are released: all of the hold, or these. */
        ReleaseIn: {
            /** @default  */
            reason?: string;
            sessions?: string[];
        };
        /** @description A summary of a deleted session that stays in a collection. */
        RemainingSummary: {
            collection: string;
            frame: number;
        };
        /** @description A passage that a replay found, with its text; `matched` says what it was found by. */
        ReplayHitOut: {
            frame: number | string | null;
            matched: {
                [key: string]: unknown;
            } | null;
            metadata: {
                [key: string]: unknown;
            } | null;
            rank: number;
            score: number | null;
            scores: {
                [key: string]: number;
            } | null;
            sha256: string | null;
            text: string | null;
            title: string | null;
            uri: string | null;
            version: number | null;
        };
        /** @description What to replay and how. `from_checkpoint` is a checkpoint's name or sequence; several `use_models` make a comparison. */
        ReplayIn: {
            adaptive?: boolean | null;
            as_of?: ("now" | "recorded") | null;
            /** @default false */
            audit?: boolean;
            cliff?: number | null;
            embedding_model?: string | null;
            from_checkpoint?: number | string | null;
            max_tokens?: number | null;
            min_score?: number | null;
            only?: string | null;
            pool?: number | null;
            prompt_template?: string | null;
            reason?: string | null;
            relative?: number | null;
            sample?: number | null;
            search_mode?: string | null;
            seed?: number | null;
            /** @default false */
            skip_asks?: boolean;
            /** @default false */
            skip_calls?: boolean;
            /** @default false */
            skip_finds?: boolean;
            spend_limit_usd?: number | null;
            system_prompt?: string | null;
            temperature?: number | null;
            through_sequence?: number | null;
            top_k?: number | null;
            use_models?: string[];
        };
        /** @description The id of a replay that was launched. */
        ReplayLaunched: {
            replay_id: string;
        };
        /** @description The replay that is one run of an arm over one session; run 0 is the noise floor. */
        ReplayOfVariant: {
            arm: number;
            replay_id: string;
            run: number;
            session: string;
            /** @enum {string} */
            status: "queued" | "running" | "done" | "failed" | "cancelled";
        };
        /**
         * @description A replay: its options, how far it is, and its results so far. Money is US dollars.
         *
         *     `over_limit_usd` is by how much its own spend limit was passed; null if it has none. `absent` counts the requests that
         *     were sent without a part that was not recorded, by the part; in `inferred_tools` of them, tools without recorded
         *     definitions were offered as the recorded calls show them. `calls_in_text` counts the requests of agents that write their
         *     calls into their text: no tools are offered, and the texts are compared.
         */
        ReplayOut: {
            absent: {
                [key: string]: number;
            };
            calls_in_text: number;
            cancel_requested: boolean;
            cancel_requested_at: string | null;
            cancel_requested_by: string | null;
            context: components["schemas"]["ContextCounts"];
            continuation: components["schemas"]["ContinuationOut"] | null;
            cost_usd: number;
            created_at: string;
            finished_at: string | null;
            first_divergence: components["schemas"]["FirstDivergence"] | null;
            id: string;
            inferred_tools: number;
            /** @enum {string} */
            kind: "audit" | "debug" | "trial" | "continue";
            model: string | null;
            most_frequent_error: components["schemas"]["FrequentError"] | null;
            options: components["schemas"]["StoredOptions"];
            over_limit_usd: number | null;
            reason: string | null;
            recorded_cost_usd: number;
            recorded_unknown_cost_calls: number;
            requested_by: string;
            retrieval: {
                [key: string]: number;
            };
            session: string;
            started_at: string | null;
            /** @enum {string} */
            status: "queued" | "running" | "done" | "failed" | "cancelled";
            steps: components["schemas"]["StepCounts"];
            summary: string;
            uncertain_calls: number;
            unknown_cost_calls: number;
            verdicts: {
                [key: string]: number;
            };
            waiting: components["schemas"]["WaitingOut"];
        };
        /** @description Replays, the newest first. */
        ReplayPage: {
            items: components["schemas"]["ReplayOut"][];
            next: string | null;
        };
        /** @description A step: its context's verdict frame by frame, both retrievals compared, and both answers with their verdict. */
        ReplayStepOut: {
            attempts: components["schemas"]["AttemptOut"][];
            context: ("verified" | "reconstructed" | "altered" | "missing" | "not_recorded") | null;
            evidence: {
                [key: string]: unknown;
            } | null;
            frames: components["schemas"]["FrozenFrameOut"][];
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            new: components["schemas"]["NewStep"] | null;
            original: components["schemas"]["RecordedStep"];
            retrieval: components["schemas"]["RetrievalCompared"] | null;
            sequence: number;
            /** @enum {string} */
            status: "waiting" | "running" | "done" | "failed" | "skipped" | "cancelled" | "uncertain";
            verdict: string | null;
        };
        /** @description Steps of a replay, in the order of the recording. */
        ReplayStepPage: {
            items: components["schemas"]["ReplayStepOut"][];
            next: string | null;
        };
        /**
         * @description The step that solved a pattern in one session, by which rule, and the same in words (`says`).
         *
         *     `sequence` is the step with the pattern, `changed` names the arguments that differ between its call and the one that went through.
         */
        ResolutionOut: {
            address: string;
            changed: string[];
            /** @enum {string} */
            how: "significant" | "same_call" | "changed_call";
            label: string;
            says: string;
            sequence: number;
            session: components["schemas"]["SessionNamed"];
            solved_by: number;
        };
        /**
         * @description The result of a call that the record did not answer: named by the call's id, or by its tool. A value that is not a text is
         *     sent to the model as JSON.
         */
        ResultIn: {
            call_id?: string | null;
            result: unknown;
            tool?: string | null;
        };
        /**
         * @description Of how many answers the results are, and when they were computed.
         *
         *     `not_yet` while the comparison runs; `under_way` while newer ones are computed; `failed` if a worker failed at it too often.
         */
        ResultsState: {
            answers: number | null;
            computed_at: string | null;
            /** @enum {string} */
            state: "not_yet" | "under_way" | "current" | "failed";
        };
        /** @description Which checkpoint to resume from: its sequence or its name; the last one without. */
        ResumeIn: {
            checkpoint?: number | string | null;
        };
        /** @description What an agent knew at a checkpoint: the named parts of its state, null where it has none, and the others in `more`. */
        ResumedOut: {
            checkpoint: components["schemas"]["CheckpointNamed"];
            environment: unknown;
            last_query: unknown;
            last_result: unknown;
            messages: unknown;
            model: unknown;
            more: {
                [key: string]: unknown;
            };
            parent: components["schemas"]["ParentOut"];
            system_prompt: unknown;
            tools: unknown;
            working_directory: unknown;
        };
        /** @description Below how many days a rule needs a reason, and why. */
        RetentionFloor: {
            because: string;
            days: number;
        };
        /** @description What a rule would delete now, when the `first` session that is not held is old enough, and the rule that it replaces. */
        RetentionPreview: {
            due: components["schemas"]["SessionCounts"];
            first: string | null;
            floor: components["schemas"]["RetentionFloor"];
            replaces: components["schemas"]["RetentionRuleOut"] | null;
        };
        /** @description How long the sessions of an agent, with a tag, both, or all others are kept: `days`, null to keep them permanently. With `dry_run` nothing is set. */
        RetentionRuleIn: {
            /** @default  */
            agent?: string;
            days?: number | null;
            /** @default false */
            dry_run?: boolean;
            /** @default  */
            reason?: string;
            /** @default  */
            tag?: string;
        };
        /**
         * @description A retention rule, also in words (`says`); `days` null keeps sessions permanently. `early` is whether `days` is below the floor.
         *
         *     `due` is what the rule would delete now, null if that was not counted.
         */
        RetentionRuleOut: {
            agent: string;
            days: number | null;
            due: components["schemas"]["SessionCounts"] | null;
            early: boolean;
            id: string;
            ran_at: string | null;
            reason: string;
            says: string;
            set_at: string;
            set_by: string;
            tag: string;
        };
        /** @description The rules of a project, the most specific first. */
        RetentionRules: {
            floor: components["schemas"]["RetentionFloor"];
            items: components["schemas"]["RetentionRuleOut"][];
        };
        /**
         * @description What is found, compared with what was recorded. How it was searched for is absent if the passages were chosen by a person.
         *
         *     `k` is how deep the lists were compared, `persistence` the p of the rank-biased overlap. `rank_biased_depth` is the length of the shorter
         *     list, below which that overlap says nothing; null if both are equally long. `pool` is how many of the best passages an adaptive cut-off
         *     that was chosen looked at. `below_needs` are the settings with which it would keep the passage `below` too.
         */
        RetrievalCompared: {
            /** @default false */
            adaptive?: boolean;
            as_of: string | null;
            below?: {
                [key: string]: unknown;
            } | null;
            below_needs?: {
                [key: string]: unknown;
            } | null;
            curve?: {
                [key: string]: unknown;
            };
            /** @default  */
            cut_by?: string;
            /** @default  */
            embedding_model?: string | null;
            found_hits: number;
            gained: (number | string)[];
            k: number;
            lost: (number | string)[];
            /** @default 0 */
            min_score?: number | null;
            mode: string;
            moved: components["schemas"]["FrameMoved"][];
            /** @default 0 */
            not_embedded?: number | null;
            overlap: number | null;
            persistence: number;
            /** @default 0 */
            pool?: number | null;
            rank_biased_depth: number | null;
            rank_biased_overlap: number | null;
            recorded_hits: number;
            /** @default  */
            semantic_search?: string | null;
            thresholds?: {
                [key: string]: unknown;
            } | null;
            /** @default 0 */
            top_k?: number;
            /** @enum {string} */
            verdict: "same" | "reordered" | "changed";
        };
        /** @description The passages that a step retrieved, and how. */
        RetrievalIn: {
            adaptive?: boolean | null;
            as_of?: string | null;
            below?: {
                [key: string]: unknown;
            } | null;
            collection?: string | null;
            curve?: {
                [key: string]: unknown;
            } | null;
            cut_by?: string | null;
            embedding_model?: string | null;
            hits?: components["schemas"]["HitIn"][];
            min_score?: number | null;
            mode?: string | null;
            not_embedded?: number | null;
            semantic_search?: string | null;
            thresholds?: {
                [key: string]: unknown;
            } | null;
            top_k?: number | null;
        };
        /** @description The passages that a step retrieved, and how; null where that was not recorded. */
        RetrievalOut: {
            adaptive: boolean | null;
            as_of: string | null;
            below: {
                [key: string]: unknown;
            } | null;
            collection: string | null;
            curve: {
                [key: string]: unknown;
            } | null;
            cut_by: string | null;
            embedding_model: string | null;
            hits: components["schemas"]["HitOut"][];
            min_score: number | null;
            mode: string | null;
            not_embedded: number | null;
            semantic_search: string | null;
            thresholds: {
                [key: string]: unknown;
            } | null;
            top_k: number | null;
        };
        /** @description How often a rule matched a kind of finding. */
        RuleCount: {
            count: number;
            rule: string;
            what: string;
        };
        /**
         * @description A comparison of the database with a seal; `result` is null while it runs.
         *
         *     `recorded_steps` is how many steps of other sessions it compared because the subject repeats them.
         */
        SealCheckOut: {
            erased_fields: number;
            finished_at: string | null;
            id: string;
            problems: components["schemas"]["SealProblem"][];
            recorded_steps: number;
            records: number;
            requested_at: string;
            requested_by: string | null;
            result: ("intact" | "altered") | null;
        };
        /**
         * @description The seal of a session, replay or comparison: how much of it is sealed, by which key, and the last check.
         *
         *     `altered` is whether the last check found a difference, here or in a session that is repeated. `checking` is the check that runs now.
         */
        SealOut: {
            altered: boolean;
            check: components["schemas"]["SealCheckOut"] | null;
            checking: components["schemas"]["SealCheckOut"] | null;
            earlier: components["schemas"]["EarlierSeal"][];
            erased: components["schemas"]["ErasedOfSeal"];
            key: string | null;
            problem: string | null;
            records: number;
            root: string | null;
            sealed: boolean;
            sealed_at: string | null;
            sealed_records: number;
            state: string | null;
        };
        /**
         * @description A difference between the database and the seal; `index` is the record, null if the problem is not about one.
         *
         *     `session` is the session whose recorded step differs, if a replay or comparison repeats it; otherwise it is absent.
         */
        SealProblem: {
            code: string;
            index: number | null;
            says: string;
            session?: string;
        };
        /**
         * @description What is searched for, and where; an empty text matches any, and a step must match all filters.
         *
         *     `since` and `until` are about the step: RFC 3339, or a date for the whole day. `status` is the step's (`error`, `ok`) or its session's
         *     (`recording`, `ended`); `user` and `min_cost` (USD) are its session's, `tag` is of either.
         */
        SearchIn: {
            after?: string | null;
            /** @default  */
            agent?: string;
            /**
             * @default
             * @enum {string}
             */
            kind?: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint" | "";
            /** @default 50 */
            limit?: number;
            min_cost?: number | null;
            /**
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "text" | "semantic";
            /** @default  */
            model?: string;
            q: string;
            /** @default  */
            session?: string;
            /** @default  */
            since?: string;
            /**
             * @default
             * @enum {string}
             */
            status?: "error" | "ok" | "recording" | "ended" | "";
            /** @default  */
            tag?: string;
            /** @default  */
            tool?: string;
            /** @default  */
            until?: string;
            /** @default  */
            user?: string;
        };
        /**
         * @description Sessions with their best steps, why each was found, and what the search could not see.
         *
         *     `no_embeddings` is why nothing was compared by meaning, `nothing` why there are no results; each null otherwise.
         */
        SearchPage: {
            embedding_model: string | null;
            items: components["schemas"]["SessionHits"][];
            /** @enum {string} */
            mode: "hybrid" | "text" | "semantic";
            next: string | null;
            no_embeddings: string | null;
            not_indexed: number;
            nothing: string | null;
            too_common: boolean;
        };
        /** @description Which sessions were meant; filters that were not given are absent. */
        SelectionOut: {
            agent?: string;
            kind?: string;
            min_cost?: number;
            model?: string;
            named?: string;
            older_than_days?: number;
            q?: string;
            since?: string;
            status?: string;
            tag?: string;
            tool?: string;
            until?: string;
            user?: string;
        };
        /**
         * @description A sentence of an answer: how far a passage supports it, and where in that passage.
         *
         *     `grounded` and `score` are null if it makes no claim. `reason` is why it is not grounded; `missing` are words that
         *     no passage has.
         */
        SentenceOut: {
            end: number;
            frame: number | string | null;
            grounded: boolean | null;
            missing: string[];
            partly: boolean;
            passage_end: number | null;
            passage_start: number | null;
            reason: ("number" | "name" | "negation" | "no_support") | null;
            score: number | null;
            start: number;
            swapped: boolean;
            text: string;
        };
        /** @description An ask inside a session; `collection` and `agent` where they are not the session's own. */
        SessionAskIn: {
            /** @default false */
            adaptive?: boolean;
            agent?: string | null;
            as_of?: string | null;
            cliff?: number | null;
            collection?: string | null;
            embedding_model?: string | null;
            max_tokens?: number | null;
            min_score?: number | null;
            /**
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "semantic" | "lexical";
            /** @default false */
            no_cache?: boolean;
            question: string;
            relative?: number | null;
            seed?: number | null;
            /** @default false */
            stream?: boolean;
            system_prompt?: string | null;
            temperature?: number | null;
            /** @default 8 */
            top_k?: number;
            /** @default  */
            use_model?: string;
        };
        /** @description What can change in a session: its name, metadata and tags, never what it recorded. */
        SessionChange: {
            metadata?: {
                [key: string]: unknown;
            } | null;
            name?: string | null;
            tags?: string[] | null;
        };
        /**
         * @description How many sessions with how many steps are meant.
         *
         *     `held` are under legal hold and stay, `recording` are still open, and of `summarised` a summary stays in a collection.
         */
        SessionCounts: {
            held: number;
            recording: number;
            sessions: number;
            summarised: number;
            turns: number;
        };
        /** @description Which session was deleted, how many actions and branches it had, and its summaries that stay in collections. */
        SessionDeleted: {
            actions: number;
            branches: number;
            erased: string;
            summaries: components["schemas"]["RemainingSummary"][];
        };
        /** @description When a session that is recorded elsewhere ended; without it, it ends now. */
        SessionEnd: {
            ended_at?: string | null;
        };
        /** @description Why a session is deleted. */
        SessionErasure: {
            /** @default  */
            reason?: string;
        };
        /**
         * @description Which sessions are listed; an empty text matches any, and a session must match all filters.
         *
         *     `q` is searched for in names and keys, and in the texts of the steps, as in the search. `tool`, `kind` and `model` match sessions with such
         *     a step. `since` and `until` are about the session's start, so a session without times matches neither: RFC 3339, or a date for the whole day.
         *     `steps_since` and `steps_until` match sessions with a step on these days (UTC). `min_cost` is in USD; `cost` is `unknown` for sessions with calls of unknown cost.
         *     `held` is `yes` for those under legal hold, `no` for the others; `branch` is `yes` for those that branched from another session, such as
         *     continuations, `no` for the others.
         */
        SessionFilter: {
            after?: string | null;
            /** @default  */
            agent?: string;
            /**
             * @default
             * @enum {string}
             */
            branch?: "yes" | "no" | "";
            /**
             * @default
             * @enum {string}
             */
            cost?: "unknown" | "";
            /**
             * @default
             * @enum {string}
             */
            held?: "yes" | "no" | "";
            /**
             * @default
             * @enum {string}
             */
            kind?: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint" | "";
            /** @default 50 */
            limit?: number;
            min_cost?: number | null;
            /** @default  */
            model?: string;
            /** @default  */
            q?: string;
            /** @default  */
            since?: string;
            /**
             * @default
             * @enum {string}
             */
            status?: "recording" | "ended" | "";
            /** @default  */
            steps_since?: string;
            /** @default  */
            steps_until?: string;
            /** @default  */
            tag?: string;
            /** @default  */
            tool?: string;
            /** @default  */
            until?: string;
            /** @default  */
            user?: string;
        };
        /** @description A find inside a session; `collection` and `agent` where they are not the session's own. */
        SessionFindIn: {
            /** @default false */
            adaptive?: boolean;
            agent?: string | null;
            as_of?: string | null;
            cliff?: number | null;
            collection?: string | null;
            embedding_model?: string | null;
            min_score?: number | null;
            /**
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "semantic" | "lexical";
            query: string;
            relative?: number | null;
            /** @default 8 */
            top_k?: number;
        };
        /** @description A session of a hold; `key` and `name` are null once it was deleted after its release. */
        SessionHeld: {
            key: string | null;
            name: string | null;
            released_at: string | null;
            session: string;
        };
        /**
         * @description A session with its best steps. `matches` is how many of its steps have the words, null if it was found by meaning; `more` of those are not listed.
         *
         *     `named` says where the session itself has the words: in its `name`, `key` or `tags`. Then it can have no hits.
         */
        SessionHits: {
            hits: components["schemas"]["StepHit"][];
            matches: number | null;
            more: number;
            named: ("name" | "key" | "tags")[];
            session: components["schemas"]["MatchedSession"];
        };
        /**
         * @description A session of the file: how many actions the file has for it, and how many of them had been recorded before.
         *
         *     `deleted_turns` is how many of its steps were deleted here; they stay deleted.
         */
        SessionImported: {
            actions: number;
            already_there: number;
            deleted_before: components["schemas"]["DeletedBefore"] | null;
            deleted_turns: number;
            id: string;
            key: string;
            name: string;
            url: string;
        };
        /** @description A new session; `started_at` is for one that began before the server heard of it. */
        SessionIn: {
            agent?: string | null;
            collection?: string | null;
            key?: string | null;
            metadata?: {
                [key: string]: unknown;
            };
            name: string;
            parent?: components["schemas"]["ParentIn"] | null;
            started_at?: string | null;
            tags?: string[];
            user?: string | null;
        };
        /** @description A session as a pattern names it. */
        SessionNamed: {
            agent: string | null;
            id: string;
            key: string;
            name: string;
            started_at: string | null;
        };
        /** @description A session by its names. */
        SessionNames: {
            id: string;
            key: string;
            name: string;
        };
        /**
         * @description The options of a replay that fit any session: what a suite stores.
         *
         *     `audit` uses the frozen context; without it retrieval runs again. `only` is a filter as the timeline takes it: steps
         *     that fit are replayed, and for any other step that fits the model call that led to it. `sample` is how many of the
         *     steps at most are replayed, always the same ones of a session. `spend_limit_usd` stops before the next call.
         */
        SessionOptions: {
            adaptive?: boolean | null;
            as_of?: ("now" | "recorded") | null;
            /** @default false */
            audit?: boolean;
            cliff?: number | null;
            embedding_model?: string | null;
            max_tokens?: number | null;
            min_score?: number | null;
            only?: string | null;
            pool?: number | null;
            prompt_template?: string | null;
            reason?: string | null;
            relative?: number | null;
            sample?: number | null;
            search_mode?: string | null;
            seed?: number | null;
            /** @default false */
            skip_asks?: boolean;
            /** @default false */
            skip_calls?: boolean;
            /** @default false */
            skip_finds?: boolean;
            spend_limit_usd?: number | null;
            system_prompt?: string | null;
            temperature?: number | null;
            top_k?: number | null;
        };
        /**
         * @description A session: what it is called, and what its actions add up to.
         *
         *     `started_at` and `duration_ms` are those of the summary: from the first start of a step to the last end of one. Money is US dollars. `unknown_cost_calls` are in no sum; `saved_usd` is what the answers from the cache saved.
         *
         *     `actions` counts every recorded action, also those copied from another session; errors, tokens, cost and times leave copies out.
         *     The summary tells them apart.
         */
        SessionOut: {
            actions: number;
            agent: string | null;
            cached_calls: number;
            collection: string | null;
            continues: components["schemas"]["ContinuesOut"] | null;
            cost_usd: number | null;
            created_at: string;
            created_by: string;
            duration_ms: number | null;
            ended_at: string | null;
            errors: number;
            id: string;
            imported_as: string | null;
            input_tokens: number | null;
            key: string;
            metadata: {
                [key: string]: unknown;
            };
            name: string;
            output_tokens: number | null;
            parent: components["schemas"]["ParentOut"] | null;
            parent_awaited: components["schemas"]["ParentAwaitedOut"] | null;
            parent_deleted: components["schemas"]["ParentDeletedOut"] | null;
            saved_usd: number | null;
            started_at: string | null;
            /** @enum {string} */
            status: "recording" | "ended";
            tags: string[];
            unknown_cost_calls: number;
            unknown_saved_calls: number;
            url: string;
            user: string | null;
        };
        /** @description Sessions, newest first. */
        SessionPage: {
            items: components["schemas"]["SessionOut"][];
            next: string | null;
        };
        /** @description A put inside a session; `collection` and `agent` where they are not the session's own. */
        SessionPutIn: {
            agent?: string | null;
            collection?: string | null;
            frame?: number | null;
            frames?: components["schemas"]["FrameIn"][] | null;
            metadata?: {
                [key: string]: unknown;
            };
            text?: string | null;
            /** @default  */
            title?: string;
            /** @default  */
            uri?: string;
        };
        /** @description The session of a recalled turn. */
        SessionRecalled: {
            agent: string | null;
            id: string;
            key: string;
            name: string;
            started_at: string | null;
            /** @enum {string} */
            status: "recording" | "ended";
            turns: number;
            user: string | null;
        };
        /**
         * @description Which sessions are meant: they must match every filter that is given.
         *
         *     The filters are those of the list of sessions, and `named`, which is searched for in names and keys. With `older_than_days`, nothing was
         *     recorded in a session for at least this many days.
         */
        SessionSelection: {
            /** @default  */
            agent?: string;
            /**
             * @default
             * @enum {string}
             */
            kind?: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint" | "";
            min_cost?: number | null;
            /** @default  */
            model?: string;
            /** @default  */
            named?: string;
            older_than_days?: number | null;
            /** @default  */
            q?: string;
            /** @default  */
            since?: string;
            /**
             * @default
             * @enum {string}
             */
            status?: "recording" | "ended" | "";
            /** @default  */
            tag?: string;
            /** @default  */
            tool?: string;
            /** @default  */
            until?: string;
            /** @default  */
            user?: string;
        };
        /** @description The summaries of a session, the latest first. */
        SessionSummaries: {
            items: components["schemas"]["SessionSummaryOut"][];
            next: string | null;
        };
        /**
         * @description A summary of a session as a frame of a collection: which steps it cites, which model wrote it and what that cost.
         *
         *     `unknown_steps` are cited in it but were not given to the model.
         */
        SessionSummaryOut: {
            at: string;
            by: string;
            collection: string;
            cost_usd: number | null;
            frame: number;
            id: string;
            model: string;
            prices: {
                [key: string]: unknown;
            } | null;
            prompt_template: string | null;
            steps: number[];
            through_sequence: number;
            unknown_steps: number[];
            usage: components["schemas"]["CallUsageOut"] | null;
            version: number;
        };
        /** @description How many settings there are, and how many were measured or have ended in another way. */
        SettingCounts: {
            finished: number;
            total: number;
        };
        /**
         * @description A new share link. `url` contains its secret, which no other response has.
         *
         *     `warning` is null if the link has a profile, and if the built-in profile finds nothing in what it shows. `note` names the
         *     branch of a continuation, whose steps a link to the continuation does not show; null for any other link.
         */
        ShareCreated: {
            created_at: string;
            created_by: string;
            evidence_only: boolean;
            expires_at: string;
            id: string;
            label: string;
            last_open_at: string | null;
            max_opens: number | null;
            note: string | null;
            opens: number;
            passphrase: boolean;
            redaction: components["schemas"]["ProfileVersion"] | null;
            revoked_at: string | null;
            revoked_by: string | null;
            /** @enum {string} */
            state: "active" | "expired" | "revoked" | "exhausted" | "forbidden";
            target_id: string;
            target_name: string;
            /** @enum {string} */
            target_type: "session" | "replay" | "comparison";
            through_sequence: number | null;
            url: string;
            warning: components["schemas"]["ShareWarning"] | null;
        };
        /** @description A share link to create; `governance.sharing.pure.terms` checks its numbers. */
        ShareIn: {
            /** @default false */
            evidence_only?: boolean;
            expires_at?: string | null;
            /** @default  */
            label?: string;
            max_opens?: number | null;
            passphrase?: string | null;
            redaction?: string | null;
            target_id: string;
            /** @enum {string} */
            target_type: "session" | "replay" | "comparison";
            through_sequence?: number | null;
        };
        /** @description A share link without its secret. */
        ShareOut: {
            created_at: string;
            created_by: string;
            evidence_only: boolean;
            expires_at: string;
            id: string;
            label: string;
            last_open_at: string | null;
            max_opens: number | null;
            opens: number;
            passphrase: boolean;
            redaction: components["schemas"]["ProfileVersion"] | null;
            revoked_at: string | null;
            revoked_by: string | null;
            /** @enum {string} */
            state: "active" | "expired" | "revoked" | "exhausted" | "forbidden";
            target_id: string;
            target_name: string;
            /** @enum {string} */
            target_type: "session" | "replay" | "comparison";
            through_sequence: number | null;
        };
        /** @description Share links, newest first. */
        SharePage: {
            items: components["schemas"]["ShareOut"][];
            next: string | null;
        };
        /** @description What to change in a project's policy for links; with `longest_days` null, the general maximum applies. */
        SharePolicyIn: {
            /** @default false */
            forbidden?: boolean;
            longest_days?: number | null;
            /** @default false */
            passphrase_required?: boolean;
            /** @default false */
            profile_required?: boolean;
        };
        /** @description Whether links are forbidden, need a passphrase or a profile, and the longest lifetime in days; null for the general maximum. */
        SharePolicyOut: {
            forbidden: boolean;
            longest_days: number | null;
            passphrase_required: boolean;
            profile_required: boolean;
        };
        /**
         * @description What a link would show and withhold: of `steps` steps, the first `read` were read.
         *
         *     `counts` is what the profile withholds, by rule. For a link without a profile, `found` is what the built-in profile would withhold.
         */
        SharePreview: {
            counts: components["schemas"]["RuleCount"][];
            evidence_only: boolean;
            first: components["schemas"]["WithheldPlace"][];
            found: components["schemas"]["RuleCount"][];
            read: number;
            redaction: components["schemas"]["ProfileVersion"] | null;
            sessions: components["schemas"]["SharedSessionOut"][];
            steps: number;
            target_id: string;
            /** @enum {string} */
            target_type: "session" | "replay" | "comparison";
            through_sequence: number | null;
            withheld: number;
        };
        /**
         * @description What a link without a profile shows although the built-in profile would withhold it: how often, never the values.
         *
         *     `matches` is null if the search failed. Of `steps` steps, the first `read` were searched.
         */
        ShareWarning: {
            found: components["schemas"]["RuleCount"][];
            matches: number | null;
            message: string;
            read: number | null;
            steps: number | null;
        };
        /** @description A session as a link names it. */
        SharedSessionOut: {
            agent: string | null;
            id: string;
            name: string;
        };
        /**
         * @description A session or replay that is compared, and its totals. Money is US dollars.
         *
         *     The steps up to `after` are left out: the other run is a continuation that goes on after them. 0: all are compared.
         */
        SideOut: {
            after: number;
            cost_usd: number | null;
            duration_ms: number | null;
            errors: number;
            id: string;
            input_tokens: number | null;
            key: string;
            /** @enum {string} */
            kind: "session" | "replay";
            model: string | null;
            name: string;
            output_tokens: number | null;
            replay_kind: ("audit" | "debug" | "trial" | "continue") | null;
            session: string;
            started_at: string | null;
            steps: number;
            unknown_cost_calls: number;
        };
        /** @description A step of one side; `not_asked` says why a replay left its call out. `copied`: it happened in another session, and is in no total. */
        SideStep: {
            answered: boolean;
            copied: boolean;
            cost_usd: number | null;
            duration_ms: number | null;
            error: unknown;
            input_tokens: number | null;
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            label: string;
            model: string | null;
            name: string | null;
            not_asked: string | null;
            output_tokens: number | null;
            role: ("user" | "agent" | "system" | "tool") | null;
            sequence: number;
            tool: string | null;
        };
        /** @description A change of a step's significance or importance; null restored what was recorded. `proposal` is the rule that suggested it. */
        SignificanceChangeOut: {
            at: string;
            by: string;
            id: string;
            importance: number | null;
            proposal: ("first_error" | "error_gone" | "decision" | "hypothesis" | "root_cause" | "solved") | null;
            sequence: number;
            significance: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough") | null;
        };
        /** @description Who changed a step's significance or importance and when, both null where only its session was compressed. */
        SignificanceChanged: {
            at: string | null;
            by: string | null;
            compressed: boolean;
        };
        /** @description Changes of steps of a session, the latest first. */
        SignificanceChanges: {
            items: components["schemas"]["SignificanceChangeOut"][];
            next: string | null;
        };
        /** @description The new significance and importance of a step; null restores what was recorded, and what is not sent stays. */
        SignificanceIn: {
            importance?: number | null;
            significance?: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough") | null;
        };
        /** @description The significance and importance that were recorded, where others are in force. */
        SignificanceRecorded: {
            importance: number | null;
            significance: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough") | null;
        };
        /**
         * @description A public key that signs evidence, or did until it was replaced. `store` is where the private key is: `database`, `pkcs11`,
         *     or the path of an operator's class.
         */
        SigningKeyOut: {
            created_at: string;
            created_by: string | null;
            fingerprint: string;
            pem: string;
            replaced_at: string | null;
            replaced_by: string | null;
            store: string;
        };
        /** @description The signing keys of a project, the one in use first. */
        SigningKeys: {
            items: components["schemas"]["SigningKeyOut"][];
            next: string | null;
        };
        /** @description A pattern that a step or a text is like: `same` by its wording, or `alike` by its words; and how many other sessions have it. */
        SimilarPattern: {
            address: string;
            first_seen: string | null;
            id: string;
            kind: components["schemas"]["Kind"];
            last_seen: string | null;
            /** @enum {string} */
            like: "same" | "alike";
            other_sessions: number;
            resolution: components["schemas"]["ResolutionOut"] | null;
            sessions: number;
            solved_sessions: number;
            steps: number;
            text: string;
            trend: components["schemas"]["TrendOut"] | null;
            undated_steps: number;
        };
        /** @description All patterns that a step or a text is like. `not_read` is how many steps of the project have not been read for patterns yet. */
        SimilarPatterns: {
            items: components["schemas"]["SimilarPattern"][];
            next: string | null;
            not_read: number;
        };
        /** @description How many sessions or solutions were left out for a reason. */
        SkippedCount: {
            count: number;
            /** @enum {string} */
            of: "session" | "solution";
            reason: string;
            says: string;
        };
        /** @description A session, or the step of a solution in it, that was left out, and why. */
        SkippedStep: {
            key: string;
            name: string;
            reason: string;
            says: string;
            session: string;
            step: number | null;
        };
        /** @description A current frame that is a passage of a file, and where in the file's text, in characters. */
        SourceFrame: {
            end: number | null;
            frame: number;
            page: unknown;
            sha256: string;
            start: number | null;
            title: string;
            version: number;
        };
        /** @description The current frames of a file, in the order in which they were put. */
        SourceFrames: {
            items: components["schemas"]["SourceFrame"][];
            next: string | null;
        };
        /** @description A file in a list: how many of its frames are current, and how many more were edited by hand since. */
        SourceListed: {
            created_at: string;
            edited: number | null;
            frames: number | null;
            id: string;
            left_out: string[];
            media_type: string;
            name: string;
            put_by: string;
            sha256: string;
            title: string;
            uri: string;
            url: string;
        };
        /** @description A file whose passages were put; `url` is the page with its text. `left_out` names what of an HTML page is not in the text. */
        SourceOut: {
            created_at: string;
            id: string;
            left_out: string[];
            media_type: string;
            name: string;
            put_by: string;
            sha256: string;
            title: string;
            uri: string;
            url: string;
        };
        /** @description The files of a collection, newest first. */
        SourcePage: {
            items: components["schemas"]["SourceListed"][];
            next: string | null;
        };
        /** @description How many values there are, their sum, and the values below which half and 95% of them lie; null if there are none. */
        SpreadOut: {
            n: number;
            p50: number | null;
            p95: number | null;
            total: number | null;
        };
        /** @description How many sessions of a bulk deletion are in each state; states without sessions are absent. */
        StateCounts: {
            changed?: number;
            erased?: number;
            failed?: number;
            gone?: number;
            held?: number;
            waiting?: number;
        };
        /** @description A message up to a step, whole; an ask is two, its question and its answer. */
        StateMessage: {
            content: unknown;
            role: ("user" | "agent" | "system" | "tool") | null;
            sequence: number;
        };
        /**
         * @description What was known at a step. `frames_existed` is how many frames the session's collection had then, null without a collection. `as_of` is null for
         *     imported steps without times.
         */
        StateOut: {
            as_of: string | null;
            at: number;
            frames_existed: number | null;
            frames_used: components["schemas"]["FrameUsed"][];
            messages: components["schemas"]["StateMessage"][];
            totals: components["schemas"]["TotalsSoFar"];
        };
        /** @description A step of a run and the same step of the run before, and how they differ. */
        StepChangeOut: {
            after: components["schemas"]["StepFactOut"] | null;
            before: components["schemas"]["StepFactOut"] | null;
            change: string;
            cost_change_usd: number | null;
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            label: string;
            model: string | null;
            sequence: number;
            session: string;
            session_key: string | null;
            took_change_ms: number | null;
        };
        /** @description How many steps there are, and how many have ended in which way. */
        StepCounts: {
            cancelled: number;
            done: number;
            failed: number;
            skipped: number;
            total: number;
        };
        /** @description Why a step is deleted. */
        StepDeletion: {
            /** @default  */
            reason?: string;
        };
        /**
         * @description The result of a step in one run; `in_words` is the verdict in words, `answer` and `passages` are hashes, `step` is
         *     the path of its page.
         */
        StepFactOut: {
            answer: string | null;
            context: string | null;
            cost_usd: number | null;
            error: string | null;
            in_words: string | null;
            model: string | null;
            passages: string | null;
            replay_id: string;
            retrieval: string | null;
            status: string;
            step: string;
            took_ms: number | null;
            verdict: string | null;
        };
        /** @description A step that was found, and by what; `cut` if only the beginning of it was searched. */
        StepHit: {
            address: string;
            agent: string | null;
            cut: boolean;
            failed: boolean;
            found_by: ("words" | "meaning")[];
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            label: string;
            model: string | null;
            name: string | null;
            passage: components["schemas"]["MatchedPassage"] | null;
            score: number;
            scores: components["schemas"]["HitScores"];
            sequence: number;
            started_at: string | null;
            tool: string | null;
        };
        /**
         * @description Two steps that belong together, and in what they differ; a side is null if it has no such step.
         *
         *     `moved` is the number of the step on the other side.
         */
        StepPairOut: {
            a: components["schemas"]["SideStep"] | null;
            b: components["schemas"]["SideStep"] | null;
            differs_in: string[];
            moved: number | null;
            /** @enum {string} */
            status: "same" | "modified" | "moved" | "only_left" | "only_right" | "not_asked";
        };
        /** @description A find or ask, how it searches, and where the frames are in it; `error` says why they could not be ranked. */
        StepRanksOut: {
            adaptive: boolean | null;
            error: string | null;
            frames: components["schemas"]["FrameRanksOut"][];
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            mode: string | null;
            query: string | null;
            sequence: number;
            top_k: number | null;
        };
        /** @description The options as they were stored, perhaps by another version. An option that is absent is as it was recorded. */
        StoredOptions: {
            adaptive?: boolean | null;
            after_sequence?: number | null;
            as_of?: ("now" | "recorded") | null;
            /** @default false */
            audit?: boolean;
            cliff?: number | null;
            continue_from?: number | null;
            embedding_model?: string | null;
            frames?: (number | string)[] | null;
            max_calls?: number | null;
            max_tokens?: number | null;
            messages?: {
                [key: string]: unknown;
            }[] | null;
            min_score?: number | null;
            only?: string | null;
            pool?: number | null;
            prompt_template?: string | null;
            question?: string | null;
            reason?: string | null;
            relative?: number | null;
            repeatable_tools?: string[] | null;
            sample?: number | null;
            search_mode?: string | null;
            seed?: number | null;
            /** @default false */
            skip_asks?: boolean;
            /** @default false */
            skip_calls?: boolean;
            /** @default false */
            skip_finds?: boolean;
            spend_limit_usd?: number | null;
            step?: number | null;
            system_prompt?: string | null;
            temperature?: number | null;
            through_sequence?: number | null;
            top_k?: number | null;
            use_model?: string | null;
            user_messages?: ("agreed" | "recorded" | "none") | null;
        } & {
            [key: string]: unknown;
        };
        /** @description What to change in a suite; what is left out stays. null removes `schedule` or `matching`. */
        SuiteChange: {
            fail_on?: string[] | null;
            matching?: components["schemas"]["Matching"] | null;
            name?: string | null;
            options?: components["schemas"]["SessionOptions"] | null;
            schedule?: string | null;
            sessions?: string[] | null;
            use_models?: string[] | null;
        };
        /** @description The suite that was deleted, and how many runs it had. */
        SuiteDeleted: {
            id: string;
            name: string;
            runs: number;
        };
        /** @description A suite and who changed it, the latest change first. */
        SuiteDetail: {
            created_at: string;
            created_by: string;
            events: components["schemas"]["SuiteEventOut"][];
            fail_on: string[];
            id: string;
            /** @enum {string} */
            kind: "audit" | "debug";
            latest_run: components["schemas"]["SuiteRunOut"] | null;
            matching: components["schemas"]["Matching"] | null;
            missing: string[];
            name: string;
            next_run_at: string | null;
            options: components["schemas"]["StoredOptions"];
            problem: string | null;
            schedule: string | null;
            sessions: components["schemas"]["SuiteSessionOut"][];
            use_models: string[];
        };
        /** @description Something that was done to a suite. */
        SuiteEventOut: {
            at: string;
            by: string;
            facts: {
                [key: string]: unknown;
            };
            what: string;
        };
        /** @description A suite: which sessions, how, with which models, when, and what counts as a failure. */
        SuiteIn: {
            fail_on?: string[];
            matching?: components["schemas"]["Matching"] | null;
            name: string;
            options?: components["schemas"]["SessionOptions"];
            schedule?: string | null;
            sessions?: string[];
            use_models?: string[];
        };
        /** @description One session with one model in a run: its replay, or why it was not replayed, and where it first does something else than the recording. */
        SuiteMember: {
            arm: number;
            first_divergence: components["schemas"]["FirstDivergence"] | null;
            problem: components["schemas"]["Problem"] | null;
            replay_id: string | null;
            session: string | null;
            session_key: string;
            status: ("queued" | "running" | "done" | "failed" | "cancelled") | null;
        };
        /** @description A suite: what it replays and when. `missing` are the keys of sessions that were deleted. */
        SuiteOut: {
            created_at: string;
            created_by: string;
            fail_on: string[];
            id: string;
            /** @enum {string} */
            kind: "audit" | "debug";
            latest_run: components["schemas"]["SuiteRunOut"] | null;
            matching: components["schemas"]["Matching"] | null;
            missing: string[];
            name: string;
            next_run_at: string | null;
            options: components["schemas"]["StoredOptions"];
            problem: string | null;
            schedule: string | null;
            sessions: components["schemas"]["SuiteSessionOut"][];
            use_models: string[];
        };
        /** @description Suites of the project by name. */
        SuitePage: {
            items: components["schemas"]["SuiteOut"][];
            next: string | null;
        };
        /** @description A page of the steps of a run, each with the same step of the `previous` run; null without such a run. */
        SuiteReport: {
            items: components["schemas"]["StepChangeOut"][];
            next: string | null;
            previous: number | null;
            run: number;
            /** @enum {string} */
            status: "running" | "done" | "failed" | "cancelled";
        };
        /** @description A run with its replays, and those that could not be launched. */
        SuiteRunDetail: {
            cancelled_by: string | null;
            context: components["schemas"]["ContextCounts"];
            cost_since: components["schemas"]["Change"] | null;
            cost_usd: number;
            created_at: string;
            due_at: string | null;
            fail_on: string[];
            finished_at: string | null;
            held: string[] | null;
            id: string;
            /** @enum {string} */
            kind: "audit" | "debug";
            left_out: number;
            members: components["schemas"]["SuiteMember"][];
            most_frequent_error: components["schemas"]["FrequentError"] | null;
            number: number;
            options: components["schemas"]["StoredOptions"];
            over_limit_usd: number | null;
            previous: number | null;
            replays: {
                [key: string]: number;
            };
            requested_by: string;
            retrieval: {
                [key: string]: number;
            };
            since: {
                [key: string]: number;
            } | null;
            /** @enum {string} */
            status: "running" | "done" | "failed" | "cancelled";
            steps: components["schemas"]["StepCounts"];
            suite: string;
            summary: string;
            took_since: components["schemas"]["Change"] | null;
            uncertain_calls: number;
            unknown_cost_calls: number;
            use_models: string[];
            verdicts: {
                [key: string]: number;
            };
        };
        /** @description Conditions that count for this run in addition to the suite's own. */
        SuiteRunIn: {
            fail_on?: string[];
        };
        /**
         * @description A run of a suite: how far it is, and its results. Money is US dollars.
         *
         *     `since` counts the changes since the `previous` run, null without such a run; `held` lists the conditions of `fail_on` that are true.
         */
        SuiteRunOut: {
            cancelled_by: string | null;
            context: components["schemas"]["ContextCounts"];
            cost_since: components["schemas"]["Change"] | null;
            cost_usd: number;
            created_at: string;
            due_at: string | null;
            fail_on: string[];
            finished_at: string | null;
            held: string[] | null;
            id: string;
            /** @enum {string} */
            kind: "audit" | "debug";
            left_out: number;
            most_frequent_error: components["schemas"]["FrequentError"] | null;
            number: number;
            options: components["schemas"]["StoredOptions"];
            over_limit_usd: number | null;
            previous: number | null;
            replays: {
                [key: string]: number;
            };
            requested_by: string;
            retrieval: {
                [key: string]: number;
            };
            since: {
                [key: string]: number;
            } | null;
            /** @enum {string} */
            status: "running" | "done" | "failed" | "cancelled";
            steps: components["schemas"]["StepCounts"];
            suite: string;
            summary: string;
            took_since: components["schemas"]["Change"] | null;
            uncertain_calls: number;
            unknown_cost_calls: number;
            use_models: string[];
            verdicts: {
                [key: string]: number;
            };
        };
        /** @description Runs of a suite, the latest first. */
        SuiteRunPage: {
            items: components["schemas"]["SuiteRunOut"][];
            next: string | null;
        };
        /** @description A session of a suite. */
        SuiteSessionOut: {
            id: string;
            key: string;
            name: string;
        };
        /** @description The collection to put a summary into, the session's own by default, and the model that writes it. */
        SummaryIn: {
            /** @default  */
            collection?: string;
            /** @default local:extractive-5 */
            use_model?: string;
        };
        /** @description The totals of a session, what judging its answers cost, and how many notes are pinned to its steps. */
        SummaryOut: {
            actions: number;
            cached_calls: number;
            cached_tokens: number | null;
            copied_actions: number;
            corrections: number;
            cost_usd: number | null;
            duration_ms: number | null;
            ended_at: string | null;
            errors: number;
            first_step_at: string | null;
            input_tokens: number | null;
            judgements: components["schemas"]["JudgingCost"];
            kinds: {
                [key: string]: number;
            };
            last_step_ended_at: string | null;
            max_iteration: number | null;
            models: {
                [key: string]: number;
            };
            notes: number;
            output_tokens: number | null;
            saved_usd: number | null;
            session: string;
            started_at: string | null;
            steps_ms: number | null;
            tools: {
                [key: string]: number;
            };
            unknown_cost_calls: number;
            unknown_reasons: {
                [key: string]: number;
            };
            unknown_saved_calls: number;
        };
        /** @description What some steps add up to, without copies and corrections; `timed_actions` of them recorded how long they took, `steps_ms` together. */
        SumsOut: {
            actions: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            input_tokens: number | null;
            output_tokens: number | null;
            steps_ms: number | null;
            timed_actions: number;
            tool_calls: number;
            unknown_cost_calls: number;
        };
        /** @description The grid to measure: every combination of its values. */
        SweepIn: {
            /**
             * @default [
             *       false,
             *       true
             *     ]
             */
            adaptive?: boolean[];
            /**
             * @default recorded
             * @enum {string}
             */
            as_of?: "recorded" | "now";
            /** @default [] */
            embedding_models?: string[];
            /**
             * @default [
             *       "hybrid",
             *       "semantic",
             *       "lexical"
             *     ]
             */
            modes?: ("hybrid" | "semantic" | "lexical")[];
            /**
             * @default [
             *       4,
             *       8,
             *       16
             *     ]
             */
            top_k?: number[];
        };
        /** @description The id of a sweep that was launched. */
        SweepLaunched: {
            sweep_id: string;
        };
        /** @description A sweep: its grid, how far it is, and the result of each setting, in the order of the grid. */
        SweepOut: {
            created_at: string;
            finished_at: string | null;
            grid: components["schemas"]["Grid"];
            id: string;
            requested_by: string;
            rows: components["schemas"]["SweepRowOut"][];
            session: string;
            settings: components["schemas"]["SettingCounts"];
            /** @enum {string} */
            status: "queued" | "running" | "done" | "failed" | "cancelled";
            steps: number;
            tokenizer: string;
        };
        /** @description Sweeps of a session, the newest first. */
        SweepPage: {
            items: components["schemas"]["SweepOut"][];
            next: string | null;
        };
        /** @description What a setting finds at all steps. `recall` is of the frames that the recorded answers are grounded in. */
        SweepResult: {
            grounded_found: number;
            grounded_frames: number;
            hits: number;
            left_out: number;
            overlap: number | null;
            rank_biased_overlap: number | null;
            recall: number | null;
            steps: number;
            tokens: number;
            tokens_per_step: number | null;
        };
        /** @description A setting, how far it is, and its result. */
        SweepRowOut: {
            adaptive: boolean;
            embedding_model: string | null;
            error: string | null;
            mode: string;
            number: number;
            result: components["schemas"]["SweepResult"] | null;
            /** @enum {string} */
            status: "waiting" | "running" | "done" | "failed" | "cancelled";
            top_k: number;
        };
        /** @description The thresholds of the adaptive cut-off. */
        ThresholdsOut: {
            cliff: number;
            floor: number;
            relative: number;
        };
        /**
         * @description Words of a query that were read as a time: which characters they are, and from when until when that is.
         *
         *     `until` is the first moment after it. `sessions` are those that the words name; `relation` says whether within, before or after them.
         */
        TimeReadOut: {
            end: number;
            from: string | null;
            previous_session: boolean;
            /** @enum {string} */
            relation: "within" | "before" | "after";
            session: components["schemas"]["SessionNames"] | null;
            sessions: components["schemas"]["SessionNames"][];
            start: number;
            until: string | null;
            words: string;
        };
        /** @description Words of a query that look like a time and were not read as one, and why. */
        TimeUnread: {
            end: number;
            start: number;
            why: string;
            words: string;
        };
        /** @description How many tokens the turns have. `marks` are the tokens of the marks that replace turns, which count towards the budget. */
        TokenCount: {
            estimated: boolean;
            kept: number;
            marks: number;
            recorded: number;
            tokenizer: string;
        };
        /** @description The steps of one tool. */
        ToolLine: {
            actions: number;
            calls: number;
            cost_usd: number | null;
            errors: number;
            filter: string | null;
            input_tokens: number | null;
            output_tokens: number | null;
            share: number | null;
            steps_ms: number | null;
            timed_actions: number;
            tool: string | null;
            tool_calls: number;
            unknown_cost_calls: number;
        };
        /** @description Which steps of a session are added up (the language of the timeline's filter; an empty text for all), and by what. */
        TotalsFilter: {
            after?: string | null;
            /** @default kind */
            by?: string;
            /** @default  */
            filter?: string;
            /** @default 50 */
            limit?: number;
        };
        /** @description What the steps that `filter` shows add up to, together and by group, the group that took longest first. */
        TotalsOut: {
            /** @enum {string} */
            by: "kind" | "tool" | "model" | "agent";
            filter: string;
            items: components["schemas"]["KindLine"][] | components["schemas"]["ToolLine"][] | components["schemas"]["ModelLine"][] | components["schemas"]["AgentLine"][];
            next: string | null;
            session: string;
            totals: components["schemas"]["SumsOut"];
        };
        /** @description What the steps up to one add up to, without copied steps. `first` is their first start, `last` their last end. */
        TotalsSoFar: {
            cached_calls: number;
            cost_usd: number | null;
            errors: number;
            first: string | null;
            input_tokens: number | null;
            kinds: {
                [key: string]: number;
            };
            last: string | null;
            output_tokens: number | null;
            saved_usd: number | null;
            unknown_cost_calls: number;
            unknown_saved_calls: number;
        };
        /** @description Which pairs of which sessions, and in what form; an empty text matches any session. */
        TrainingFilter: {
            /** @default  */
            agent?: string;
            /**
             * @default chat
             * @enum {string}
             */
            form?: "chat" | "dpo";
            /**
             * @default
             * @enum {string}
             */
            part?: "train" | "valid" | "test" | "";
            /** @default  */
            q?: string;
            /** @default built-in */
            redaction?: string;
            /** @default time-machine */
            seed?: string;
            /** @default 80,10,10 */
            shares?: string;
            /** @default  */
            since?: string;
            /** @default  */
            tag?: string;
            /** @default  */
            until?: string;
            /** @default  */
            user?: string;
            /**
             * @default resolution
             * @enum {string}
             */
            what?: "resolution" | "chain";
        };
        /** @description A pair, the steps that it was made from, and its `line` of the file. */
        TrainingPair: {
            key: string;
            line: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            part: "train" | "valid" | "test";
            rejected_step: number | null;
            rule: string | null;
            session: string;
            solution: number;
            steps: number[];
        };
        /** @description A number for each part of the data. */
        TrainingParts: {
            test: number;
            train: number;
            valid: number;
        };
        /**
         * @description The pairs of an export by part and by rule, what was withheld, what was left out and why, and the first pairs.
         *
         *     `unread` sessions are in the export but were not read for this report, which would have taken too long.
         */
        TrainingReport: {
            deleted_turns: number;
            first: components["schemas"]["TrainingPair"][];
            first_left_out: components["schemas"]["SkippedStep"][];
            /** @enum {string} */
            form: "chat" | "dpo";
            left_out: components["schemas"]["SkippedCount"][];
            pairs: number;
            redaction: components["schemas"]["ProfileVersion"];
            rejected_by: components["schemas"]["RejectedBy"][];
            sessions: number;
            split: components["schemas"]["TrainingSplit"];
            unread: number;
            /** @enum {string} */
            what: "resolution" | "chain";
            withheld: components["schemas"]["RuleCount"][];
        };
        /** @description How sessions are divided into parts, and how many sessions and pairs each part has. */
        TrainingSplit: {
            pairs: components["schemas"]["TrainingParts"];
            seed: string;
            sessions: components["schemas"]["TrainingParts"];
            shares: components["schemas"]["TrainingParts"];
        };
        /** @description Which turns are returned, and in which form; several words of one field are separated by commas. */
        TranscriptFilter: {
            /**
             * @default json
             * @enum {string}
             */
            as?: "json" | "text" | "messages";
            budget?: number | null;
            /** @default  */
            kind?: string;
            min_importance?: number | null;
            /** @default  */
            role?: string;
            /** @default  */
            significance?: string;
            /** @default  */
            tag?: string;
        };
        /** @description The filters of a transcript; an empty list matches any. */
        TranscriptFilters: {
            budget: number | null;
            kind: string[];
            min_importance: number | null;
            role: string[];
            significance: string[];
            tag: string[];
        };
        /** @description The same as the messages of a chat, in which marks say where turns are left out. */
        TranscriptMessages: {
            asked: components["schemas"]["TranscriptFilters"];
            messages: components["schemas"]["ChatMessage"][];
            session: components["schemas"]["TranscriptSession"];
            through_sequence: number;
            tokens: components["schemas"]["TokenCount"];
            turns: components["schemas"]["TurnCount"];
        };
        /** @description A session's turns in their order, or those that match; `left_out_after` is how many are left out after the last. */
        TranscriptOut: {
            asked: components["schemas"]["TranscriptFilters"];
            items: components["schemas"]["TurnOut"][];
            left_out_after: number;
            session: components["schemas"]["TranscriptSession"];
            through_sequence: number;
            tokens: components["schemas"]["TokenCount"];
            turns: components["schemas"]["TurnCount"];
        };
        /** @description The session of a transcript. */
        TranscriptSession: {
            agent: string | null;
            ended_at: string | null;
            id: string;
            key: string;
            name: string;
            started_at: string | null;
            /** @enum {string} */
            status: "recording" | "ended";
            user: string | null;
        };
        /** @description How many steps had the pattern per day or per week (from Monday, in UTC), from `begins` on; `before` is how many had it earlier. */
        TrendOut: {
            before: number;
            begins: string;
            counts: number[];
            /** @enum {string} */
            unit: "day" | "week";
        };
        /** @description What to change in one step and try again; what is left out stays as it was recorded. */
        TrialIn: {
            adaptive?: boolean | null;
            as_of?: ("now" | "recorded") | null;
            cliff?: number | null;
            embedding_model?: string | null;
            frames?: (number | string)[] | null;
            max_tokens?: number | null;
            min_score?: number | null;
            pool?: number | null;
            prompt_template?: string | null;
            question?: string | null;
            reason?: string | null;
            relative?: number | null;
            search_mode?: string | null;
            seed?: number | null;
            system_prompt?: string | null;
            temperature?: number | null;
            top_k?: number | null;
            use_model?: string | null;
        };
        /** @description A turn around a result; `cut` if only the beginnings of its input, output and error are given. */
        TurnAround: {
            agent: string | null;
            copied: boolean;
            cut: boolean;
            deleted?: components["schemas"]["TurnDeleted"];
            duration_ms: number | null;
            error: components["schemas"]["FailureOut"] | null;
            importance: number | null;
            input: unknown;
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            left_out_before: number;
            model: string | null;
            name: string | null;
            output: unknown;
            role: ("user" | "agent" | "system" | "tool") | null;
            sequence: number;
            significance: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough") | null;
            started_at: string | null;
            tags: string[];
            tool: string | null;
        };
        /** @description How many turns a transcript has, of how many recorded. */
        TurnCount: {
            kept: number;
            recorded: number;
        };
        /** @description When, by whom and why a step was deleted. */
        TurnDeleted: {
            at: string;
            by: string;
            reason: string;
        };
        /**
         * @description A turn of a session as it was recorded; `left_out_before` is how many turns before it are left out.
         *
         *     `turn_rows.Row.document` writes it: 10,000 of them are streamed at a time, too many to make each a schema first.
         */
        TurnOut: {
            agent: string | null;
            copied: boolean;
            deleted?: components["schemas"]["TurnDeleted"];
            duration_ms: number | null;
            error: components["schemas"]["FailureOut"] | null;
            importance: number | null;
            input: unknown;
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            left_out_before: number;
            model: string | null;
            name: string | null;
            output: unknown;
            role: ("user" | "agent" | "system" | "tool") | null;
            sequence: number;
            significance: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough") | null;
            started_at: string | null;
            tags: string[];
            tool: string | null;
        };
        /** @description A turn of an earlier session that answers a query. */
        TurnRecalled: {
            address: string;
            agent: string | null;
            around?: components["schemas"]["AroundOut"];
            at: string | null;
            cut: boolean;
            failed: boolean;
            found_by: ("words" | "meaning")[];
            importance: number | null;
            /** @enum {string} */
            kind: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint";
            label: string;
            model: string | null;
            name: string | null;
            passage: components["schemas"]["MatchedPassage"] | null;
            role: ("user" | "agent" | "system" | "tool") | null;
            score: number;
            scores: components["schemas"]["HitScores"];
            sequence: number;
            session: components["schemas"]["SessionRecalled"];
            significance: ("normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough") | null;
            started_at: string | null;
            tags: string[];
            tool: string | null;
        };
        /** @description A tool call without a recorded result. */
        UnansweredCall: {
            arguments: string | null;
            call_id: string;
            nearest: components["schemas"]["NearestCall"] | null;
            tool: string;
        };
        /** @description What imported steps without times cost, whatever the day; it is not part of the totals. */
        UndatedCosts: {
            calls: number;
            cost_usd: number | null;
            unknown_cost_calls: number;
        };
        /** @description Characters of the answer and of the passages beyond the limits, which were not read. */
        UnreadOut: {
            answer: number;
            passages: number;
        };
        /** @description Tokens of one model call. */
        UsageIn: {
            cache_write_tokens?: number | null;
            cached_tokens?: number | null;
            input_tokens?: number | null;
            output_tokens?: number | null;
            reasoning_tokens?: number | null;
            total_tokens?: number | null;
        };
        /** @description Tokens, null if not recorded. */
        UsageOut: {
            cache_write_tokens: number | null;
            cached_tokens: number | null;
            input_tokens: number | null;
            output_tokens: number | null;
            reasoning_tokens: number | null;
            total_tokens: number | null;
        };
        /** @description About what all runs of an arm would cost. */
        VariantEstimateOut: {
            arm: number;
            calls: number;
            cost_usd: number;
            guessed_calls: number;
            input_tokens: number;
            kinds: {
                [key: string]: number;
            };
            least_usd: number;
            model: string | null;
            most_usd: number;
            name: string;
            output_tokens: number;
            steps: number;
            unknown_cost_calls: number;
            unknown_reasons: {
                [key: string]: number;
            };
        };
        /** @description An estimate for each arm. */
        VariantEstimates: {
            estimates: components["schemas"]["VariantEstimateOut"][];
        };
        /** @description One arm of a comparison: a model and the options of its calls; null is as it was recorded. */
        VariantIn: {
            max_tokens?: number | null;
            model: string;
            prompt_template?: string | null;
            seed?: number | null;
            system_prompt?: string | null;
            temperature?: number | null;
        };
        /** @description A model and the options of its calls; those that are absent are as they were recorded. */
        VariantOut: {
            arm: number;
            max_tokens?: number;
            model: string;
            name: string;
            prompt_template?: string;
            seed?: number;
            system_prompt?: string;
            temperature?: number;
        };
        /** @description Two columns compared: a result for each metric, and B's medians divided by A's, of the same steps. */
        VariantPairOut: {
            a: number;
            b: number;
            metrics: components["schemas"]["PairedResultOut"][];
            ratio_of_medians: {
                [key: string]: number | null;
            };
        };
        /** @description How many calls wait because their model is busy, and when the last of them is tried again. */
        WaitingOut: {
            calls: number;
            until: string | null;
        };
        /** @description A place where a link withholds something: the step, null for the session itself, the field, and the text around it. */
        WithheldPlace: {
            field: string;
            sequence: number | null;
            session: string;
            text: string;
        };
        /** @description A wording of a pattern, and how many steps have it. */
        WordingOut: {
            steps: number;
            text: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    timemachine_api_asks_read_cache: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerCacheOut"];
                };
            };
        };
    };
    timemachine_api_asks_empty_cache: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerCacheEmptied"];
                };
            };
        };
    };
    timemachine_api_asks_switch_cache: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerCacheChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerCacheOut"];
                };
            };
        };
    };
    timemachine_api_asks_index: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AsksUnderWay"];
                };
            };
        };
    };
    timemachine_api_asks_cancel_ask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ask_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelOut"];
                };
            };
        };
    };
    timemachine_api_audit_log_index: {
        parameters: {
            query?: {
                actor?: string;
                action?: string;
                since?: string;
                until?: string;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
        };
    };
    timemachine_api_audit_log_check: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditCheck"];
                };
            };
        };
    };
    timemachine_api_audit_log_export: {
        parameters: {
            query?: {
                format?: string;
                actor?: string;
                action?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
        };
    };
    timemachine_api_collections_index: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectionPage"];
                };
            };
        };
    };
    timemachine_api_collections_make: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectionOut"];
                };
            };
        };
    };
    timemachine_api_collections_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectionOut"];
                };
            };
        };
    };
    timemachine_api_collections_ask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskOut"];
                };
            };
        };
    };
    timemachine_api_collections_embedding: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmbeddingOut"];
                };
            };
        };
    };
    timemachine_api_collections_re_embed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmbeddingIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmbeddingOut"];
                };
            };
        };
    };
    timemachine_api_files_put_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** Format: binary */
                    file: string;
                    /** @default false */
                    replace?: boolean;
                    session?: string;
                    title?: string;
                    uri?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FilePutOut"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntakeAccepted"];
                };
            };
        };
    };
    timemachine_api_collections_find: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FindIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindOut"];
                };
            };
        };
    };
    timemachine_api_collections_frames: {
        parameters: {
            query?: {
                as_of?: string | null;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FramePage"];
                };
            };
        };
    };
    timemachine_api_collections_frame: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                name: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FrameVersions"];
                };
            };
        };
    };
    timemachine_api_collections_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FrameOut"];
                };
            };
        };
    };
    timemachine_api_collections_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PutOut"];
                };
            };
        };
    };
    timemachine_api_files_sources: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourcePage"];
                };
            };
        };
    };
    timemachine_api_files_source_frames: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                name: string;
                source_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceFrames"];
                };
            };
        };
    };
    timemachine_api_comparisons_compare: {
        parameters: {
            query: {
                a: string;
                b: string;
                show?: "all" | "changed" | "modified" | "moved" | "only_left" | "only_right" | "not_asked" | "same";
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlignmentOut"];
                };
            };
        };
    };
    timemachine_api_comparisons_index: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonPage"];
                };
            };
        };
    };
    timemachine_api_comparisons_launch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ComparisonIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonLaunched"];
                };
            };
        };
    };
    timemachine_api_comparisons_estimate_launch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ComparisonIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VariantEstimates"];
                };
            };
        };
    };
    timemachine_api_comparisons_read: {
        parameters: {
            query?: {
                so_far?: boolean;
            };
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonResults"];
                };
            };
        };
    };
    timemachine_api_comparisons_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonOut"];
                };
            };
        };
    };
    timemachine_api_comparisons_cells: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskCellsPage"];
                };
            };
        };
    };
    timemachine_api_evidence_of_comparison: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
        };
    };
    timemachine_api_comparisons_export: {
        parameters: {
            query?: {
                format?: string;
            };
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonFile"];
                };
            };
        };
    };
    timemachine_api_comparisons_judge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpinionsIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgeQueued"];
                };
            };
        };
    };
    timemachine_api_comparisons_cancel_judgements: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgesCancelled"];
                };
            };
        };
    };
    timemachine_api_comparisons_estimate: {
        parameters: {
            query: {
                model: string;
                session?: string | null;
                sequence?: number | null;
                arm?: number | null;
                run?: number;
            };
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgeEstimateOut"];
                };
            };
        };
    };
    timemachine_api_comparisons_opinion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
                opinion_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpinionDetail"];
                };
            };
        };
    };
    timemachine_api_comparisons_mark: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MarkIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MarkOut"];
                };
            };
        };
    };
    timemachine_api_comparisons_retry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonOut"];
                };
            };
        };
    };
    timemachine_api_evidence_seal_of_comparison: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealOut"];
                };
            };
        };
    };
    timemachine_api_evidence_check_comparison: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                comparison_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealCheckOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_compress_older: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompressOlderIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompressedOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompressionRuleOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_set_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompressionRuleIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompressionRuleOut"];
                };
            };
        };
    };
    timemachine_api_costs_index: {
        parameters: {
            query?: {
                by?: string;
                since?: string;
                until?: string;
                agent?: string;
                model?: string;
                tag?: string;
                tool?: string;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CostsOut"];
                };
            };
        };
    };
    timemachine_api_project_load_demo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DemoOut"];
                };
            };
        };
    };
    timemachine_api_project_remove_demo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DemoRemoved"];
                };
            };
        };
    };
    timemachine_api_deletion_read_erasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                erasure_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureOut"];
                };
            };
        };
    };
    timemachine_api_deletion_confirm_erasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                erasure_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ErasureConfirmation"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureOut"];
                };
            };
        };
    };
    timemachine_api_evidence_of_log: {
        parameters: {
            query?: {
                audit_log?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
        };
    };
    timemachine_api_evidence_read_anchors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnchorsOut"];
                };
            };
        };
    };
    timemachine_api_evidence_set_anchors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnchorsIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnchorsOut"];
                };
            };
        };
    };
    timemachine_api_evidence_read_check: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                check_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealCheckOut"];
                };
            };
        };
    };
    timemachine_api_evidence_list_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningKeys"];
                };
            };
        };
    };
    timemachine_api_evidence_replace_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningKeyOut"];
                };
            };
        };
    };
    timemachine_api_deletion_index: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionPage"];
                };
            };
        };
    };
    timemachine_api_deletion_make: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeletionIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionOut"];
                };
            };
        };
    };
    timemachine_api_deletion_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                forgetting_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionOut"];
                };
            };
        };
    };
    timemachine_api_deletion_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                forgetting_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionOut"];
                };
            };
        };
    };
    timemachine_api_deletion_confirm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                forgetting_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeletionConfirmation"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionOut"];
                };
            };
        };
    };
    timemachine_api_deletion_sessions: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                forgetting_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionSessions"];
                };
            };
        };
    };
    timemachine_api_judgements_ground: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroundIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroundingOut"] | components["schemas"]["GroundingPage"];
                };
            };
        };
    };
    timemachine_api_deletion_list_holds: {
        parameters: {
            query?: {
                session?: string;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldPage"];
                };
            };
        };
    };
    timemachine_api_deletion_place_hold: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldPreview"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldOut"];
                };
            };
        };
    };
    timemachine_api_deletion_read_hold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                hold_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldDetails"];
                };
            };
        };
    };
    timemachine_api_deletion_release_hold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                hold_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReleaseIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldOut"];
                };
            };
        };
    };
    timemachine_api_imports_import_: {
        parameters: {
            query?: {
                format?: string | null;
                filename?: string | null;
                later?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportOut"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportAccepted"];
                };
            };
        };
    };
    timemachine_api_imports_lines_: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinesIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinesOut"];
                };
            };
        };
    };
    timemachine_api_imports_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileImportOut"];
                };
            };
        };
    };
    timemachine_api_files_read_intake: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                intake_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntakeOut"];
                };
            };
        };
    };
    timemachine_api_project_list_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyPage"];
                };
            };
        };
    };
    timemachine_api_project_make_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyCreated"];
                };
            };
        };
    };
    timemachine_api_project_revoke_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyOut"];
                };
            };
        };
    };
    timemachine_api_models_index: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfferPage"];
                };
            };
        };
    };
    timemachine_api_models_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderKeyPage"];
                };
            };
        };
    };
    timemachine_api_models_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderKeyOut"];
                };
            };
        };
    };
    timemachine_api_models_set_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProviderKeyIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderKeyOut"];
                };
            };
        };
    };
    timemachine_api_models_remove_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderKeyOut"];
                };
            };
        };
    };
    timemachine_api_models_servers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelServerPage"];
                };
            };
        };
    };
    timemachine_api_models_add_server: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelServerIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelServerOut"];
                };
            };
        };
    };
    timemachine_api_models_remove_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelServerRemoved"];
                };
            };
        };
    };
    timemachine_api_models_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelTestIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelTestOut"];
                };
            };
        };
    };
    timemachine_api_patterns_index: {
        parameters: {
            query?: {
                kind?: "error" | "question" | "";
                q?: string;
                since?: string;
                solved?: "yes" | "no" | "";
                min_sessions?: number;
                similar_to?: string;
                text?: string;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatternPage"] | components["schemas"]["SimilarPatterns"];
                };
            };
        };
    };
    timemachine_api_patterns_alerts: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatternAlerts"];
                };
            };
        };
    };
    timemachine_api_patterns_seen: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatternAlertOut"];
                };
            };
        };
    };
    timemachine_api_patterns_rule_index: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatternRules"];
                };
            };
        };
    };
    timemachine_api_patterns_make_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatternRuleIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatternRuleOut"];
                };
            };
        };
    };
    timemachine_api_patterns_delete_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatternRuleDeleted"];
                };
            };
        };
    };
    timemachine_api_patterns_read: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                pattern_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PatternDetails"];
                };
            };
        };
    };
    timemachine_api_project_project: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectOut"];
                };
            };
        };
    };
    timemachine_api_search_recall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallOut"];
                };
            };
        };
    };
    timemachine_api_redactions_index: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedactionPage"];
                };
            };
        };
    };
    timemachine_api_redactions_make: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedactionIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedactionOut"];
                };
            };
        };
    };
    timemachine_api_redactions_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedactionTest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedactedText"] | components["schemas"]["RedactedStep"];
                };
            };
        };
    };
    timemachine_api_redactions_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                redaction_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedactionOut"];
                };
            };
        };
    };
    timemachine_api_redactions_retire: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                redaction_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedactionOut"];
                };
            };
        };
    };
    timemachine_api_redactions_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                redaction_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedactionChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedactionOut"];
                };
            };
        };
    };
    timemachine_api_replays_index: {
        parameters: {
            query?: {
                session?: string | null;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayPage"];
                };
            };
        };
    };
    timemachine_api_replays_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayOut"];
                };
            };
        };
    };
    timemachine_api_replays_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayOut"];
                };
            };
        };
    };
    timemachine_api_replays_go_on: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GoOnIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayLaunched"];
                };
            };
        };
    };
    timemachine_api_evidence_of_replay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
        };
    };
    timemachine_api_replays_retry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayOut"];
                };
            };
        };
    };
    timemachine_api_evidence_seal_of_replay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealOut"];
                };
            };
        };
    };
    timemachine_api_evidence_check_replay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealCheckOut"];
                };
            };
        };
    };
    timemachine_api_replays_steps: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayStepPage"];
                };
            };
        };
    };
    timemachine_api_replays_step: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                replay_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayStepOut"];
                };
            };
        };
    };
    timemachine_api_deletion_list_rules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionRules"];
                };
            };
        };
    };
    timemachine_api_deletion_set_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetentionRuleIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionPreview"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionRuleOut"];
                };
            };
        };
    };
    timemachine_api_deletion_remove_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionRuleOut"];
                };
            };
        };
    };
    timemachine_api_search_search: {
        parameters: {
            query: {
                q: string;
                mode?: "hybrid" | "text" | "semantic";
                kind?: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint" | "";
                tool?: string;
                model?: string;
                agent?: string;
                status?: "error" | "ok" | "recording" | "ended" | "";
                since?: string;
                until?: string;
                session?: string;
                user?: string;
                tag?: string;
                min_cost?: number | null;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchPage"];
                };
            };
        };
    };
    timemachine_api_sessions_index: {
        parameters: {
            query?: {
                agent?: string;
                user?: string;
                tool?: string;
                kind?: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint" | "";
                model?: string;
                status?: "recording" | "ended" | "";
                tag?: string;
                q?: string;
                since?: string;
                until?: string;
                steps_since?: string;
                steps_until?: string;
                min_cost?: number | null;
                cost?: "unknown" | "";
                held?: "yes" | "no" | "";
                branch?: "yes" | "no" | "";
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
        };
    };
    timemachine_api_sessions_start: {
        parameters: {
            query?: never;
            header?: {
                /** @description A string of your choice, up to 2,000 bytes, that identifies this request. Repeated with the same key, the request is done once and gets the same answer. A different request with that key is refused (`idempotency_key_reused`). */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
        };
    };
    timemachine_api_sessions_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
        };
    };
    timemachine_api_sessions_erase: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SessionErasure"] | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionDeleted"];
                };
            };
        };
    };
    timemachine_api_sessions_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
        };
    };
    timemachine_api_actions_index: {
        parameters: {
            query?: {
                after?: string | null;
                limit?: number;
                kind?: "put" | "find" | "ask" | "llm_call" | "tool_call" | "tool_result" | "memory_op" | "message" | "event" | "checkpoint" | "";
                layer?: "agent" | "tool" | "sys" | "";
                role?: "user" | "agent" | "system" | "tool" | "";
                significance?: "normal" | "hypothesis" | "error" | "decision" | "solution" | "breakthrough" | "";
                min_importance?: number | null;
                tag?: string;
                metadata?: string;
                model?: string;
                tool?: string;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionPage"];
                };
            };
        };
    };
    timemachine_api_actions_append: {
        parameters: {
            query?: never;
            header?: {
                /** @description A string of your choice, up to 2,000 bytes, that identifies this request. Repeated with the same key, the request is done once and gets the same answer. A different request with that key is refused (`idempotency_key_reused`). */
                "Idempotency-Key"?: string | null;
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ActionsIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendedOut"];
                };
            };
        };
    };
    timemachine_api_actions_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadAction"];
                };
            };
        };
    };
    timemachine_api_actions_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StepDeletion"] | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureOut"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureOut"];
                };
            };
        };
    };
    timemachine_api_actions_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignificanceIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadAction"];
                };
            };
        };
    };
    timemachine_api_judgements_index: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgementPage"];
                };
            };
        };
    };
    timemachine_api_judgements_make: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JudgementIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgementOut"];
                };
            };
        };
    };
    timemachine_api_judgements_estimate: {
        parameters: {
            query: {
                model: string;
            };
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgementEstimate"];
                };
            };
        };
    };
    timemachine_api_judgements_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
                judgement_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgementDetail"];
                };
            };
        };
    };
    timemachine_api_judgements_cancel_judgement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
                judgement_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelOut"];
                };
            };
        };
    };
    timemachine_api_actions_read_request: {
        parameters: {
            query?: {
                form?: "openai_chat" | "openai_responses" | "anthropic_messages";
            };
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FrozenRequestOut"];
                };
            };
        };
    };
    timemachine_api_replays_trials: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayPage"];
                };
            };
        };
    };
    timemachine_api_replays_try_again: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                sequence: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrialIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayLaunched"];
                };
            };
        };
    };
    timemachine_api_asks_ask: {
        parameters: {
            query?: never;
            header?: {
                /** @description A string of your choice, up to 2,000 bytes, that identifies this request. Repeated with the same key, the request is done once and gets the same answer. A different request with that key is refused (`idempotency_key_reused`). */
                "Idempotency-Key"?: string | null;
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionAskIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskOut"];
                };
            };
        };
    };
    timemachine_api_sessions_branches: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BranchesOut"];
                };
            };
        };
    };
    timemachine_api_sessions_checkpoints: {
        parameters: {
            query?: {
                after?: string | null;
                limit?: number;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionPage"];
                };
            };
        };
    };
    timemachine_api_sessions_checkpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A string of your choice, up to 2,000 bytes, that identifies this request. Repeated with the same key, the request is done once and gets the same answer. A different request with that key is refused (`idempotency_key_reused`). */
                "Idempotency-Key"?: string | null;
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckpointIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckpointOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_read_compression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompressionOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_compress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompressionOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_undo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompressionOut"];
                };
            };
        };
    };
    timemachine_api_replays_go_on_from_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContinueIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayLaunched"];
                };
            };
        };
    };
    timemachine_api_sessions_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SessionEnd"] | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
        };
    };
    timemachine_api_deletion_list_erasures: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasurePage"];
                };
            };
        };
    };
    timemachine_api_deletion_prepare_erasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ErasureIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureOut"];
                };
            };
        };
    };
    timemachine_api_evidence_of_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
        };
    };
    timemachine_api_sessions_export: {
        parameters: {
            query?: {
                format?: string | null;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    timemachine_api_asks_find: {
        parameters: {
            query?: never;
            header?: {
                /** @description A string of your choice, up to 2,000 bytes, that identifies this request. Repeated with the same key, the request is done once and gets the same answer. A different request with that key is refused (`idempotency_key_reused`). */
                "Idempotency-Key"?: string | null;
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionFindIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindOut"];
                };
            };
        };
    };
    timemachine_api_actions_list_notes: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotePage"];
                };
            };
        };
    };
    timemachine_api_actions_add_note: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoteIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteOut"];
                };
            };
        };
    };
    timemachine_api_actions_delete_note: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                note_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteDeleted"];
                };
            };
        };
    };
    timemachine_api_actions_proposals: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposalPage"];
                };
            };
        };
    };
    timemachine_api_actions_answer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProposalAnswer"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadAction"];
                };
            };
        };
    };
    timemachine_api_asks_put: {
        parameters: {
            query?: never;
            header?: {
                /** @description A string of your choice, up to 2,000 bytes, that identifies this request. Repeated with the same key, the request is done once and gets the same answer. A different request with that key is refused (`idempotency_key_reused`). */
                "Idempotency-Key"?: string | null;
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionPutIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PutOut"];
                };
            };
        };
    };
    timemachine_api_replays_launch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayLaunched"] | components["schemas"]["ComparisonLaunched"];
                };
            };
        };
    };
    timemachine_api_replays_estimate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Estimates"];
                };
            };
        };
    };
    timemachine_api_sessions_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResumeIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResumedOut"];
                };
            };
        };
    };
    timemachine_api_evidence_seal_of_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealOut"];
                };
            };
        };
    };
    timemachine_api_evidence_check_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealCheckOut"];
                };
            };
        };
    };
    timemachine_api_sessions_state: {
        parameters: {
            query: {
                at: number;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_summaries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummaries"];
                };
            };
        };
    };
    timemachine_api_transcripts_summarise_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SummaryIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummaryOut"];
                };
            };
        };
    };
    timemachine_api_sessions_summary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryOut"];
                };
            };
        };
    };
    timemachine_api_replays_list_sweeps: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SweepPage"];
                };
            };
        };
    };
    timemachine_api_replays_launch_sweep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SweepIn"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SweepLaunched"];
                };
            };
        };
    };
    timemachine_api_sessions_totals: {
        parameters: {
            query?: {
                by?: string;
                filter?: string;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TotalsOut"];
                };
            };
        };
    };
    timemachine_api_transcripts_transcript: {
        parameters: {
            query?: {
                as?: "json" | "text" | "messages";
                significance?: string;
                role?: string;
                kind?: string;
                tag?: string;
                min_importance?: number | null;
                budget?: number | null;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptOut"] | components["schemas"]["TranscriptMessages"];
                };
            };
        };
    };
    timemachine_api_actions_changes: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignificanceChanges"];
                };
            };
        };
    };
    timemachine_api_replays_where_is_it: {
        parameters: {
            query?: {
                frame?: number | null;
                text?: string;
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RankPageOut"];
                };
            };
        };
    };
    timemachine_api_shares_index: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharePage"];
                };
            };
        };
    };
    timemachine_api_shares_make: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShareIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShareCreated"];
                };
            };
        };
    };
    timemachine_api_shares_read_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharePolicyOut"];
                };
            };
        };
    };
    timemachine_api_shares_change_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SharePolicyIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharePolicyOut"];
                };
            };
        };
    };
    timemachine_api_shares_policy_log: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                };
            };
        };
    };
    timemachine_api_shares_preview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShareIn"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharePreview"];
                };
            };
        };
    };
    timemachine_api_shares_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                share_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShareOut"];
                };
            };
        };
    };
    timemachine_api_shares_opens: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                share_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                };
            };
        };
    };
    timemachine_api_suites_index: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuitePage"];
                };
            };
        };
    };
    timemachine_api_suites_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SuiteIn"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteOut"];
                };
            };
        };
    };
    timemachine_api_suites_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                suite_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteDetail"];
                };
            };
        };
    };
    timemachine_api_suites_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                suite_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteDeleted"];
                };
            };
        };
    };
    timemachine_api_suites_edit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                suite_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SuiteChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteDetail"];
                };
            };
        };
    };
    timemachine_api_suites_runs: {
        parameters: {
            query?: {
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                suite_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteRunPage"];
                };
            };
        };
    };
    timemachine_api_suites_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                suite_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SuiteRunIn"] | null;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteRunDetail"];
                };
            };
        };
    };
    timemachine_api_suites_estimate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                suite_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Estimates"];
                };
            };
        };
    };
    timemachine_api_suites_read_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                suite_id: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteRunDetail"];
                };
            };
        };
    };
    timemachine_api_suites_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                suite_id: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteRunDetail"];
                };
            };
        };
    };
    timemachine_api_suites_report: {
        parameters: {
            query?: {
                change?: string | null;
                limit?: number;
                after?: string | null;
            };
            header?: never;
            path: {
                suite_id: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuiteReport"];
                };
            };
        };
    };
    timemachine_api_replays_read_sweep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sweep_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SweepOut"];
                };
            };
        };
    };
    timemachine_api_replays_cancel_sweep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sweep_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SweepOut"];
                };
            };
        };
    };
    timemachine_api_training_pairs: {
        parameters: {
            query?: {
                form?: "chat" | "dpo";
                what?: "resolution" | "chain";
                part?: "train" | "valid" | "test" | "";
                seed?: string;
                shares?: string;
                redaction?: string;
                agent?: string;
                user?: string;
                tag?: string;
                q?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    timemachine_api_training_report: {
        parameters: {
            query?: {
                form?: "chat" | "dpo";
                what?: "resolution" | "chain";
                part?: "train" | "valid" | "test" | "";
                seed?: string;
                shares?: string;
                redaction?: string;
                agent?: string;
                user?: string;
                tag?: string;
                q?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingReport"];
                };
            };
        };
    };
}
