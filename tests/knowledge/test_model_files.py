"""Files of an installed package are used only if their hash matches."""

import hashlib
from pathlib import Path

import pytest

from timemachine.core.pure.errors import Unavailable
from timemachine.knowledge.embedding.files import ModelFiles

RIGHT = b"the right weights"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelFiles:
    """Install a package of weights for this test."""
    folder = tmp_path / "some_weights"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise SystemExit('its code was run')")
    (folder / "weights").write_bytes(RIGHT)
    monkeypatch.syspath_prepend(str(tmp_path))
    digest = hashlib.sha256(RIGHT).hexdigest()
    return ModelFiles(
        package="some_weights", model="some@1", sha256={"weights": digest}, advice="Install them."
    )


def folder_of(files: ModelFiles) -> Path:
    return files.path("weights").parent


def test_a_file_with_the_right_hash_is_used_without_running_code_of_its_package(files: ModelFiles) -> None:
    assert files.are_installed()
    assert files.path("weights").read_bytes() == RIGHT


def test_another_file_under_the_same_name_is_refused(files: ModelFiles) -> None:
    (folder_of(files) / "weights").write_bytes(b"not those")
    with pytest.raises(Unavailable, match=r"has unexpected content. Install them\.") as refused:
        files.path("weights")
    assert refused.value.code == "no_embeddings"


def test_a_missing_file_is_unavailable_with_a_hint(files: ModelFiles) -> None:
    (folder_of(files) / "weights").unlink()
    with pytest.raises(Unavailable, match=r"cannot be read .* Install them\."):
        files.path("weights")


def test_a_package_that_is_not_installed_is_unavailable() -> None:
    absent = ModelFiles(
        package="no_such_weights", model="some@1", sha256={"weights": ""}, advice="Install them."
    )
    assert not absent.are_installed()
    with pytest.raises(Unavailable, match=r"no_such_weights is not installed. Install them\."):
        absent.path("weights")
