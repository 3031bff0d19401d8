"""Secrets come from variables or from files that variables name."""

from pathlib import Path

import pytest

from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.secret_settings import keys_in, secret, secret_keys, secret_keys_of_environment


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIMEMACHINE_HOME", str(tmp_path / "home"))
    for name in ("SECRET_KEY", "SECRET_KEY_FALLBACKS"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)


def test_a_secret_is_the_variable_or_the_content_of_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert secret("SECRET_KEY") == ""
    monkeypatch.setenv("SECRET_KEY", "from the variable")
    assert secret("SECRET_KEY") == "from the variable"
    (tmp_path / "key").write_text("from the file\n")
    monkeypatch.setenv("SECRET_KEY", "")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    assert secret("SECRET_KEY") == "from the file"


def test_a_secret_that_is_not_clear_or_readable_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    monkeypatch.setenv("SECRET_KEY_FILE", str(file))
    for content, says in (
        (None, f"SECRET_KEY_FILE names {file}, which cannot be read (No such file or directory)."),
        (b"\xff", f"SECRET_KEY_FILE names {file}, which is not UTF-8 text."),
        (b" \n", f"SECRET_KEY_FILE names {file}, which is empty."),
    ):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(Unavailable) as refused:
            secret("SECRET_KEY")
        assert refused.value.message == says
    monkeypatch.setenv("SECRET_KEY", "as well")
    with pytest.raises(
        Unavailable, match=r"^Both SECRET_KEY and SECRET_KEY_FILE are set. Remove one of them\.$"
    ):
        secret("SECRET_KEY")


def test_secret_keys_come_from_the_environment_or_from_the_lines_in_the_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert secret_keys() == []
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret-key").write_text("new\n\nold\n")
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", "older, old")
    assert (secret_keys(), secret_keys_of_environment()) == (["new", "old", "older"], [])
    monkeypatch.setenv("SECRET_KEY", "given")
    (tmp_path / "fallbacks").write_text("first\nsecond\n")
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", "")
    monkeypatch.setenv("SECRET_KEY_FALLBACKS_FILE", str(tmp_path / "fallbacks"))
    assert secret_keys() == secret_keys_of_environment() == ["given", "first", "second"]


def test_fallbacks_without_a_key_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", "old")
    with pytest.raises(Unavailable, match=r"^SECRET_KEY_FALLBACKS is set, and there is no SECRET_KEY\."):
        secret_keys()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret-key").write_text("new\n")
    assert secret_keys() == ["new", "old"]


def test_a_key_with_spaces_or_line_breaks_is_refused_and_stays_readable_as_a_fallback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("first\nsecond\n")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(
        Unavailable, match=r"^SECRET_KEY has spaces or line breaks in it\. .*openssl rand -hex 32"
    ):
        secret_keys()
    monkeypatch.delenv("SECRET_KEY_FILE")
    monkeypatch.setenv("SECRET_KEY", "two words")
    with pytest.raises(Unavailable, match=r"^SECRET_KEY has spaces or line breaks in it\."):
        secret_keys_of_environment()
    monkeypatch.setenv("SECRET_KEY", "new")
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", "two words, old\u2028older")
    keys = secret_keys()
    assert keys == ["new", "two words", "old", "older"]
    assert keys_in("".join(f"{key}\n" for key in keys)) == keys
