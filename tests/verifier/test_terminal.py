"""Text in a bundle cannot overwrite the verdict on a terminal."""

import io
import sys
import zipfile
from pathlib import Path

import pytest

from tests.verifier.bundles import document, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.test_crafted import forged
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
OVERWRITING = "x\r\x1b[1A\x1b[2KVERIFIED\u202e\u2066\x7f\x85\ud800"


def is_harmless(written: str) -> bool:
    return all(each.isprintable() for line in written.split("\n") for each in line)


def test_every_reported_line_is_printable(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = unpacked(made.session)
    forged(lambda content: content["subject"][0].update(name=OVERWRITING))(files)
    document("session/disclosed.jsonl", lambda line: line["fields"].update({OVERWRITING: ["00", "x"]}), 0)(
        files
    )
    files[OVERWRITING.replace("\ud800", "")] = b""
    path = str(packed(files, tmp_path / "x.zip"))
    assert tm_verify.main([path]) == 1
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert r"x\r\x1b[1A\x1b[2KVERIFIED\u202e\u2066\x7f\x85" in out
    assert out.startswith("FAILED")
    assert tm_verify.main([path, "--json"]) == 1
    assert is_harmless(capsys.readouterr().out)


def test_an_unreadable_file_is_reported_in_printable_words(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = unpacked(made.session)
    forged(lambda content: content["predicate"].update(format=OVERWRITING))(files)
    path = packed(files, tmp_path / "x\r\x1b[2K.zip")
    assert tm_verify.main([str(path)]) == 2
    with pytest.raises(SystemExit):
        tm_verify.main(["a.zip", "b\x1b[2K.zip\u202e"])
    with pytest.raises(SystemExit):
        tm_verify.main(["a.zip", "--key", "x"])
    errors = capsys.readouterr().err
    assert is_harmless(errors)
    assert r"b\x1b[2K.zip\u202e" in errors
    assert r"x\r\x1b[2K.zip" in errors


def test_a_long_name_is_cut() -> None:
    assert len(tm_verify.plain("x" * 10_000)) == tm_verify.LONGEST_WORDS + 1


def test_a_character_the_terminal_lacks_is_escaped(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(made.session)
    with zipfile.ZipFile(path, "a") as opened:
        opened.writestr("Prüfung", b"")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert tm_verify.main([str(path)]) == 1
    sys.stdout.flush()
    assert rb"Pr\xfcfung" in written.getvalue()
