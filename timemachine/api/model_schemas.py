"""What programs send about models: keys, servers, tests."""

from pydantic import Field, SecretStr

from timemachine.core.pure.schemas import Strict


class ProviderKeyIn(Strict):
    """A project's own key for a built-in provider, and what the provider's name alone means then."""

    key: SecretStr
    default_model: str | None = None


class ModelServerIn(Strict):
    """An OpenAI-compatible server to add."""

    name: str
    base_url: str
    key: SecretStr | None = None
    default_model: str | None = None


class ModelTestIn(Strict):
    """A model to make one small call to."""

    model: str = Field(min_length=1)
