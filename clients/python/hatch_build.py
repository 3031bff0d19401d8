"""The build hook of timemachine-client: takes the shared modules from the repository, or from the sdist in which they already are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SharedModules(BuildHookInterface[Any]):
    """Adds the files that `shared` in pyproject.toml names, without those `of_the_server`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, unless the installation is editable and uses the repository itself."""
        if version != "editable":
            build_data["force_include"] |= dict(self._files())

    def _files(self) -> Iterator[tuple[str, str]]:
        here = Path(self.root)
        top = here if (here / "timemachine").is_dir() else here.parent.parent
        for shared in self.config["shared"]:
            part = top / shared
            for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
                name = path.relative_to(top).as_posix()
                if path.is_file() and path.suffix != ".pyc" and name not in self.config["of_the_server"]:
                    yield str(path), name
