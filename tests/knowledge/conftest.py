"""Collections with slow or fast models."""

from collections.abc import Callable

import pytest

from tests.knowledge.slow_models import OTHER, SLOW, passages
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import create_collection, put_frames
from timemachine.knowledge.embedding import table
from timemachine.knowledge.embedding.table import MINILM, WORDLLAMA, EmbeddingModel
from timemachine.knowledge.models import Collection

type Models = Callable[..., None]


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    """Register two slow models in addition to the real ones; a test may change how they embed."""

    def register(*known: EmbeddingModel) -> None:
        monkeypatch.setattr(table, "_LOCAL", (WORDLLAMA, MINILM, *known))

    register(SLOW, OTHER)
    return register


@pytest.fixture
def slow(project: Project, models: Models) -> Collection:
    return create_collection(project, "slow", by="test", embedding_model="slow")


@pytest.fixture
def quick(project: Project, models: Models) -> Collection:
    made = create_collection(project, "quick", by="test")
    put_frames(made, passages(10), by="test")
    return made
