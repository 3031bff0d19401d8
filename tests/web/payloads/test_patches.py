from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.web.payloads.pure.patches import MOST_LINES, changes_of, edit, edits_of, is_patch, patches
from timemachine.web.payloads.pure.pieces import Line, Patch, Plain

GIT = """commit 1234
diff --git a/one.py b/one.py
index 20edef5..f55e657 100755
--- a/one.py
+++ b/one.py
@@ -1,3 +1,3 @@
 def one():
-    return 2
+    return 1

diff --git a/old.bin b/old.bin
deleted file mode 100644
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
\\ No newline at end of file
"""
CODEX = """*** Begin Patch
*** Update File: core/version.go
@@ const
-Version = "1.24.0"
+Version = "1.24"
*** Add File: notes.md
+# Notes
*** End Patch"""


def test_a_unified_diff_is_its_files_and_every_line_stays() -> None:
    before, *files = patches(GIT)
    assert before == Plain("commit 1234")
    assert [each.path for each in files if isinstance(each, Patch)] == ["one.py", "", "gone.py"]
    (one, *_) = files
    assert isinstance(one, Patch)
    assert [each.sign for each in one.lines] == ["@", " ", "-", "+"]
    assert Line("-", "    return 2") in one.lines


def test_a_patch_of_codex_is_its_files() -> None:
    found = [each for each in patches(CODEX) if isinstance(each, Patch)]
    assert [(each.path, each.does) for each in found] == [
        ("core/version.go", "changed"),
        ("notes.md", "new file"),
    ]
    assert Line("+", "# Notes") in found[1].lines


@pytest.mark.parametrize("text", ["--- a\nnot a patch", "*** stars ***", "@@ somewhere", "a - b\n+ c"])
def test_a_text_that_only_looks_like_a_patch_is_none(text: str) -> None:
    assert not is_patch(text)


def test_a_bare_hunk_and_an_empty_envelope_are_patches() -> None:
    assert is_patch("@@ -1 +1 @@\n-a\n+b")
    assert [type(each) for each in patches("@@ -1 +1 @@\n-a\n+b")] == [Patch]
    assert [type(each) for each in patches("*** Begin Patch\n*** End Patch")] == [Patch]


lines = st.lists(st.sampled_from("abc"), max_size=30).map("\n".join)


@given(lines, lines)
def test_an_edit_without_what_is_unchanged_is_what_was_removed_and_added(old: str, new: str) -> None:
    found = edit(old, new)
    removed = [line for each in found if each.sign == "-" for line in each.text.split("\n")]
    added = [line for each in found if each.sign == "+" for line in each.text.split("\n")]
    assert len(added) - len(removed) == (len(new.split("\n")) if new else 0) - (
        len(old.split("\n")) if old else 0
    )
    assert bool(removed or added) == (old != new)


def test_unchanged_lines_far_from_a_change_are_counted() -> None:
    old = "\n".join(str(each) for each in range(30))
    found = edit(old, old.replace("15", "x"))
    assert [(each.sign, each.text) for each in found] == [
        ("@", "⋯ 12 unchanged lines"),
        (" ", "12\n13\n14"),
        ("-", "15"),
        ("+", "x"),
        (" ", "16\n17\n18"),
        ("@", "⋯ 11 unchanged lines"),
    ]


def test_long_texts_are_not_aligned() -> None:
    assert edit("a\n" * MOST_LINES, "b") == [Line("-", "a\n" * MOST_LINES), Line("+", "b")]


PATH = {"file_path": "a.py"}


@pytest.mark.parametrize(
    ("value", "does", "signs", "used"),
    [
        (
            {**PATH, "old_string": "a", "new_string": "b", "replace_all": True},
            "",
            "-+",
            {"old_string", "new_string"},
        ),
        ({"path": "a.py", "oldText": "a", "newText": "b"}, "", "-+", {"oldText", "newText"}),
        ({**PATH, "edits": [{"old_string": "a", "new_string": "b"}]}, "", "-+", {"edits"}),
        ({**PATH, "content": "x"}, "whole file", "+", {"content"}),
        ({"command": "create", "path": "a.py", "file_text": "x"}, "whole file", "+", {"file_text"}),
        (
            {"command": "insert", "path": "a.py", "insert_line": 3, "new_str": "x"},
            "inserted after line 3",
            "+",
            {"insert_line", "new_str"},
        ),
    ],
)
def test_the_arguments_of_tools_that_edit_files_are_patches(
    value: dict[str, Any], does: str, signs: str, used: set[str]
) -> None:
    found = edits_of(value)
    assert found is not None
    (patch,), names = found
    assert (patch.path, patch.does) == ("a.py", does)
    assert "".join(each.sign for each in patch.lines) == signs
    assert names > used


@pytest.mark.parametrize(
    "value",
    [
        {"old_string": "a", "new_string": "b"},
        {**PATH},
        {**PATH, "old_string": "a"},
        {**PATH, "edits": [{"old_string": "a"}]},
        {**PATH, "edits": ["a"]},
        {**PATH, "content": "x", "mode": "append"},
        {**PATH, "content": 4},
        {"command": "insert", **PATH},
        {"path": 3, "content": "x"},
    ],
)
def test_other_arguments_are_none(value: dict[str, Any]) -> None:
    assert edits_of(value) is None


def test_the_changes_that_codex_reports_are_patches_by_file() -> None:
    found = changes_of({"a.go": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"}})
    assert found is not None
    assert (found[0].path, found[0].does) == ("a.go", "update")
    assert changes_of({"a.go": {"type": "update"}}) is None
    assert changes_of({"a": "b"}) is None
    assert changes_of({}) is None
