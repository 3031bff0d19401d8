"""`make chart`: render the Helm chart and check what it renders against the schemas of Kubernetes and against compose.yaml.

Not a test of the suite, because it needs Helm. It runs in an environment of its own: the dependency group `chart`.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import yaml

_TOP: Final = Path(__file__).parents[2]
_CHART: Final = _TOP / "docker" / "chart"
_OLDEST, _NEWEST = "1.27", "1.37"
_NEEDED: Final = {
    "image.repository": "example.org/timemachine",
    "secret": "timemachine",
    "settings.TIMEMACHINE_PUBLIC_URL": "https://timemachine.example.org:8443",
}
_MORE: Final = {
    "ownerSecret": "owner",
    "image.digest": f"sha256:{'0' * 64}",
    "image.pullSecrets[0]": "registry",
    "ingress.enabled": "true",
    "ingress.className": "nginx",
    "ingress.tlsSecret": "tls",
    "ingress.annotations.a": "b",
    "service.annotations.a": "b",
    "podAnnotations.a": "b",
    "nodeSelector.disk": "ssd",
    "tolerations[0].key": "batch",
    "networkPolicy.from[0].namespaceSelector.matchLabels.name": "ingress",
    "networkPolicy.egress": "null",
    "settings.ALLOWED_HOSTS": "a.example.org",
}
_REFUSED: Final = {
    "secret": "secret",
    "image.repository": "image.repository",
    "settings.TIMEMACHINE_PUBLIC_URL": "TIMEMACHINE_PUBLIC_URL",
}
type _Resource = dict[str, Any]


def main() -> None:
    """Check, and print what was checked."""
    _helm("lint", "--strict", "--quiet", str(_CHART), *_set(_NEEDED))
    for name, words in _REFUSED.items():
        _check_refused({each: value for each, value in _NEEDED.items() if each != name}, words)
    for name in _secrets():
        _check_refused({**_NEEDED, f"settings.{name}": "s"}, "settings")
    _check_refused({**_NEEDED, "web.replica": "3"}, "replica")
    smallest, largest = _rendered(_NEEDED), _rendered({**_NEEDED, **_MORE})
    for resource in (*smallest, *largest):
        for version in (_OLDEST, _NEWEST):
            kubernetes_validate.validate(resource, version, strict=True)
    kinds = sorted({each["kind"] for each in largest})
    assert kinds == ["Deployment", "Ingress", "Job", "NetworkPolicy", "PodDisruptionBudget", "Service"], kinds
    for rendered in (smallest, largest):
        _check_pods(rendered)
        _check_selectors(rendered)
    _check_commands(smallest)
    assert _variables(smallest)["ALLOWED_HOSTS"] == "timemachine.example.org"
    assert _variables(largest)["ALLOWED_HOSTS"] == "a.example.org"
    sys.stdout.write(
        f"{len(smallest) + len(largest)} resources match Kubernetes {_OLDEST} and {_NEWEST}: {', '.join(kinds)}\n"
    )


def _check_refused(values: Mapping[str, str], words: str) -> None:
    """Check that the chart is not rendered, and says why."""
    tried = subprocess.run(
        ["helm", "template", "tm", str(_CHART), *_set(values)], capture_output=True, text=True, check=False
    )
    assert tried.returncode, f"rendered without {words}"
    assert words in tried.stderr, tried.stderr


def _secrets() -> list[str]:
    """Return the settings that docs/settings.md lists as secret, besides a broker's URL, which need not contain a password."""
    settings = (_TOP / "docs" / "settings.md").read_text()
    (listed,) = re.findall(r"^`SECRET_KEY`, .*?\n\n", settings, re.DOTALL | re.MULTILINE)
    return [each for each in re.findall(r"`([A-Z_]+)`", listed) if each != "CELERY_BROKER_URL"]


def _check_pods(resources: Sequence[_Resource]) -> None:
    """Check that no container can write to its image, become root or use all memory, and that each knows its secrets."""
    for pod in _pods(resources):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        volumes = {each["name"] for each in pod["volumes"]}
        for each in pod["containers"]:
            security = each["securityContext"]
            assert security["readOnlyRootFilesystem"]
            assert not security["allowPrivilegeEscalation"]
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert each["resources"]["limits"]["memory"]
            secrets = [source["secretRef"]["name"] for source in each["envFrom"]]
            assert secrets in (["timemachine"], ["timemachine", "owner"])
            assert secrets == ["timemachine"] or each["name"] in ("prepare", "worker")
            assert {mount["name"] for mount in each["volumeMounts"]} == volumes


def _check_selectors(resources: Sequence[_Resource]) -> None:
    """Check that what selects pods selects the right ones."""
    parts = {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"]
        for each in resources
        if each["kind"] == "Deployment"
    }
    assert set(parts) == {"tm-web", "tm-worker", "tm-beat"}
    for each in resources:
        name, spec = each["metadata"]["name"], each["spec"]
        selector = spec.get("selector") or spec.get("podSelector")
        if selector and each["kind"] != "Job" and name in parts:
            wanted = selector.get("matchLabels", selector)
            found = [part for part, labels in parts.items() if wanted.items() <= labels.items()]
            assert found == [name], (each["kind"], name, found)


def _check_commands(resources: Sequence[_Resource]) -> None:
    """Check that worker, beat and migration start as in compose.yaml, and are checked by the same commands."""
    services = yaml.safe_load((_TOP / "docker" / "compose.yaml").read_text())["services"]
    for name in ("worker", "beat", "prepare"):
        (chart,) = [each for pod in _pods(resources) for each in pod["containers"] if each["name"] == name]
        assert chart["command"] == services[name]["command"], (name, chart, services[name]["command"])
        check = services[name]["healthcheck"].get("test", [])
        probe = chart.get("livenessProbe", {"exec": {"command": []}})["exec"]["command"]
        assert probe == (["sh", "-c", *check[1:]] if check[:1] == ["CMD-SHELL"] else check[1:]), (name, probe)


def _variables(resources: Sequence[_Resource]) -> dict[str, str]:
    """Return the variables of the web server."""
    (web,) = [each for pod in _pods(resources) for each in pod["containers"] if each["name"] == "web"]
    return {each["name"]: each["value"] for each in web["env"]}


def _pods(resources: Sequence[_Resource]) -> Iterator[_Resource]:
    for each in resources:
        if "template" in each["spec"]:
            yield each["spec"]["template"]["spec"]


def _rendered(values: Mapping[str, str]) -> list[_Resource]:
    return list(yaml.safe_load_all(_helm("template", "tm", str(_CHART), *_set(values))))


def _set(values: Mapping[str, str]) -> list[str]:
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]


def _helm(*arguments: str) -> str:
    return subprocess.run(["helm", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main()
