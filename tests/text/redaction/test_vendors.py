"""The built-in profile finds every key that the patterns of detect-secrets describe, whatever it looks like."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import RegexBasedDetector
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.redaction.pure.profile import RULES
from timemachine.text.redaction.pure.text import redact_text

ASSIGNED: Final = "it also reads assignments with mixed quotation marks and brackets, which no program writes"
OTHER_RULES: Final = {
    "IPPublicDetector": "an address of a network is no secret",
    "BasicAuthDetector": "it also finds ports and paths; a rule of our own finds passwords in addresses",
    "PrivateKeyDetector": "it finds the line before a key; rules of our own find the key",
    "CloudantDetector": ASSIGNED,
    "IbmCloudIamDetector": ASSIGNED,
    "IbmCosHmacDetector": ASSIGNED,
    "SoftlayerDetector": ASSIGNED,
}
"""Detectors whose patterns say more than what a secret looks like."""
NO_SECRETS: Final = {
    "AC[a-z0-9]{32}": "the id of an account",
    r"AP[\dABCDEF]": "many words begin like an encrypted password of Artifactory",
    "AKC[a-zA-Z0-9]{10,}": "a key of Artifactory begins with AKCp and is longer",
    "npm_.+": "a token of npm has 36 letters and digits",
    "eyJ[A-Za-z0-9-_=]+": "it also finds tokens that are too short to be one",
}
"""Parts of patterns whose findings stay, and why."""


def patterns() -> Iterator[Any]:
    found: Any = get_mapping_from_secret_type_to_class()
    for detector in sorted(found.values(), key=lambda each: str(each.__name__)):
        made = detector()
        if not isinstance(made, RegexBasedDetector) or detector.__name__ in OTHER_RULES:
            continue
        for number, pattern in enumerate(made.denylist):
            if not any(each in pattern.pattern for each in NO_SECRETS):
                yield pytest.param(pattern, id=f"{detector.__name__}-{number}")


@pytest.mark.parametrize("pattern", list(patterns()))
@settings(max_examples=8)
@given(data=st.data())
def test_the_built_in_profile_finds_what_a_pattern_of_detect_secrets_describes(
    pattern: re.Pattern[str], data: st.DataObject
) -> None:
    plain = st.characters(min_codepoint=33, max_codepoint=126)
    written = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=plain))
    assert redact_text(f"It prints {written} at the end.", RULES).findings
