"""Bundles that somebody changed and signed again with a key of their own: never verified, and what gives them away is named."""

import io
import json
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import Files, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
Forge = Callable[[Forger, Files, Made], None]


def stated(old: str, new: str) -> Forge:
    """Replace text in the JSON of the statement."""

    def forge(forger: Forger, files: Files, made: Made) -> None:
        forger.seal(files)
        signed = json.loads(files["statement.json"])

        def change(payload: bytes) -> bytes:
            assert old.encode() in payload
            return payload.replace(old.encode(), new.encode(), 1)

        files["statement.json"] = json.dumps(forger.signed(signed, change)).encode()

    return forge


def with_file(name: str) -> Forge:
    """Add a file that the statement names."""

    def forge(forger: Forger, files: Files, made: Made) -> None:
        files[name] = b"x"
        forger.seal(files)

    return forge


def _other_records(forger: Forger, files: Files, made: Made) -> None:
    files["session/records.jsonl"] = unpacked(made.comparison)["session-1/records.jsonl"]
    forger.seal(files)


def _other_report(forger: Forger, files: Files, made: Made) -> None:
    files["report.html"] = files["report.html"].replace(b"</body>", b"<p>Nothing happened.</p></body>")
    forger.seal(files)


def _own_keys(forger: Forger, files: Files, made: Made) -> None:
    files["keys.json"] = b"[]"
    forger.seal(files)


def _only_the_statement(forger: Forger, files: Files, made: Made) -> None:
    forger.seal(files, states=False)


FAULTS: Final[dict[str, Forge]] = {
    "a value that is not a number": stated('"complete": true', '"complete": true, "n": NaN'),
    "an infinite number": stated('"complete": true', '"complete": true, "n": -Infinity'),
    "a number with more digits than a computer reads": stated(
        '"complete": true', '"complete": true, "n": ' + "9" * 5_000
    ),
    "a size with more digits than there are records": stated('"size": ', '"size": ' + "9" * 30),
    "a duplicate name": stated('"complete": true', '"complete": true, "complete": true'),
    "an absolute path": with_file("/etc/cron.d/x"),
    "a path to the folder above": with_file("../x"),
    "a path of Windows": with_file("C:\\x"),
    "a name in another normal form": with_file(unicodedata.normalize("NFD", "über.txt")),
    "a name with a line break": with_file("x\ny"),
    "the records of another bundle": _other_records,
    "a statement by a key outside the chain": _only_the_statement,
}
CONSISTENT: Final[dict[str, Forge]] = {
    "only the own key": _own_keys,
    "everything signed again": lambda forger, files, made: forger.seal(files),
    "another report": _other_report,
}


def forged(made: Made, folder: Path, forge: Forge) -> tuple[Path, str]:
    files, forger = unpacked(made.session), Forger()
    forge(forger, files, made)
    return packed(files, folder / "forged.zip"), forger.key


def exit_code(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = tm_verify.main(arguments)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out + err


@pytest.mark.parametrize("name", FAULTS)
def test_a_forged_bundle_is_refused_with_every_key(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path, own = forged(made, tmp_path, FAULTS[name])
    for key in ([], ["--key", made.key], ["--key", own]):
        code, said = exit_code([str(path), *key], capsys)
        assert code in {1, 2}, said
        assert said.startswith("FAILED") == (code == 1), said


@pytest.mark.parametrize("name", CONSISTENT)
def test_a_bundle_that_a_stranger_signed_completely_is_verified_only_with_the_key_of_the_stranger(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path, own = forged(made, tmp_path, CONSISTENT[name])
    code, said = exit_code([str(path)], capsys)
    assert (code, said.split("\n")[0].startswith("CONSISTENT, SIGNER NOT CHECKED")) == (3, True)
    assert exit_code([str(path), "--key", made.key], capsys)[0] == 1
    assert exit_code([str(path), "--key", own], capsys)[0] == 0


@pytest.mark.parametrize("of", ["session", "replay", "comparison", "log"])
def test_the_begin_of_a_bundle_is_refused(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str], of: str
) -> None:
    data: bytes = getattr(made, of)
    for part in range(20):
        path = tmp_path / "begin.zip"
        path.write_bytes(data[: len(data) * part // 20])
        assert exit_code([str(path), "--key", made.key], capsys)[0] == 2


def test_the_files_of_two_bundles_in_one_are_refused(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = packed(unpacked(made.replay) | unpacked(made.session), tmp_path / "both.zip")
    assert exit_code([str(path), "--key", made.key], capsys)[0] == 1


def test_a_file_that_is_in_the_zip_twice_is_refused(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as opened:
        for name, data in unpacked(made.session).items():
            opened.writestr(name, data)
        with pytest.warns(UserWarning, match="Duplicate name"):
            opened.writestr("report.html", b"another one")
    path = tmp_path / "twice.zip"
    path.write_bytes(target.getvalue())
    assert exit_code([str(path), "--key", made.key], capsys)[0] == 2
