"""How many labelled secrets the built-in profile finds, and in how many similar texts it withholds something."""

import json
import time
from itertools import pairwise

import pytest

from tests.text.redaction.labelled_texts import Figures, figures
from timemachine.text.redaction.pure.json_strings import strings_in
from timemachine.text.redaction.pure.profile import RULES
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import findings_in, redact_text
from timemachine.text.redaction.pure.values import redact_value

VERSION_2 = Rules(detect=("secret", "email", "phone", "card", "iban", "ssn"))
PASSWORD = "[withheld: password (or key)]"


@pytest.fixture(scope="module")
def reached() -> Figures:
    return figures(RULES)


def test_the_built_in_profile_finds_at_least_as_many_secrets_as_the_documentation_says(
    reached: Figures,
) -> None:
    assert reached.secrets == 160
    assert len(reached.missed) <= 1, reached.missed


def test_the_built_in_profile_raises_at_most_as_many_false_alarms_as_the_documentation_says(
    reached: Figures,
) -> None:
    assert reached.plain == 311
    assert len(reached.alarms) <= 6, reached.alarms


def test_the_built_in_profile_keeps_finding_what_was_missing_in_texts_whose_author_did_not_know_the_rules() -> (
    None
):
    found = figures(RULES, "unseen_")
    assert (found.secrets, found.missed) == (171, [])
    images = [text for text in found.alarms if "data:image/" in text]
    assert len(images) == 2, "Images are withheld on purpose."
    assert (found.plain, len(found.alarms) - len(images)) == (97, 0), found.alarms


@pytest.mark.parametrize(
    ("begin", "secrets", "missed", "plain", "alarms"),
    [("review_", 386, 2, 348, 1), ("later_", 144, 1, 134, 1)],
)
def test_the_built_in_profile_finds_what_reviews_tried(
    begin: str, secrets: int, missed: int, plain: int, alarms: int
) -> None:
    found = figures(RULES, begin)
    assert (found.secrets, found.plain) == (secrets, plain)
    assert len(found.missed) <= missed, found.missed
    assert len(found.alarms) <= alarms, found.alarms


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("db:\n  password: marigold\n", "marigold"),
        ("password: marigold", "marigold"),
        ('<db name="a" password="marigold"/>', "marigold"),
        ("machine h\tlogin ada\n  password marigold \U0001f600", "marigold"),
    ],
)
def test_lines_of_files_are_found_in_arguments_that_were_recorded_as_json(
    line: str, secret: str, depth: int
) -> None:
    arguments = line
    for _ in range(depth):
        arguments = json.dumps({"file_text": arguments, "path": "a\U0001f600b"})
    shown = redact_value({"arguments": arguments}, RULES).value["arguments"]
    assert secret not in shown
    assert redact_text(shown, RULES).text == shown
    for _ in range(depth):
        shown = json.loads(shown)["file_text"]
    assert "[withheld: " in shown


def test_strings_of_json_are_read_without_escapes_and_placed_in_the_text() -> None:
    written = '{"key \\ud83d\\ude00\\u0041\\/\\t!": "token\\'
    ((text, places), (cut, ends)) = strings_in(written)
    assert text == "key \U0001f600A/\t!"
    assert [written[start:end] for start, end in pairwise(places)][4:] == [
        "\\ud83d\\ude00",
        "\\u0041",
        "\\/",
        "\\t",
        "!",
    ]
    assert (cut, ends[-1]) == ("token", len(written) - 1)
    assert list(strings_in('plain "text\\n123456"')) == []
    assert list(strings_in('["text\\n123456"' + " " * 100_000)) == []


def test_every_string_of_nested_json_is_read() -> None:
    lines = json.dumps(["x\n  password: marigold-" + str(number) for number in range(300)])
    text = json.dumps({"a": json.dumps({"b": lines})})
    assert len(redact_text(text, RULES).findings) == 300


def test_links_made_with_version_2_keep_withholding_what_they_withheld() -> None:
    before = figures(VERSION_2)
    assert (len(before.missed), len(before.alarms)) == (131, 18)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("sshpass -p 1234 ssh a", f"sshpass -p {PASSWORD} ssh a"),
        ("mysql -uroot -p3306:3306", "mysql -uroot -p3306:3306"),
        ("tool -token greendoor1", f"tool -token {PASSWORD}"),
        ("tool -token greendoor", "tool -token greendoor"),
        ("tool --token ALL_CAPS", "tool --token ALL_CAPS"),
        ("tool --token -x", "tool --token -x"),
        ("tool --next-token abcdef123456", "tool --next-token abcdef123456"),
        ("the password is greendoor1.", f"the password is {PASSWORD}."),
        ("export API_TOKEN=green", "export API_TOKEN=green"),
        ("  token: abcdefghijklm", f"  token: {PASSWORD}"),
    ],
)
def test_an_option_means_what_its_program_says(text: str, reads: str) -> None:
    assert redact_text(text, Rules(detect=("password",))).text == reads


def test_what_is_spread_over_the_entries_of_a_list_is_withheld() -> None:
    key = [
        "cat key",
        "-----BEGIN RSA PRIVATE KEY-----",
        "Proc-Type: 4,ENCRYPTED",
        "",
        "MIIEabcd0123",
        "abcd",
        "-----END RSA PRIVATE KEY-----",
        "done",
        "abcdEFGH0123",
        "-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
        "no key",
    ]
    found = redact_value({"lines": key, "argv": ["docker", "login", 7, "-p", "two words", "x"]}, RULES)
    assert found.value["lines"][2:6] == [PASSWORD, "", PASSWORD, PASSWORD]
    assert found.value["lines"][8] == PASSWORD
    assert (found.value["lines"][0], found.value["lines"][7], found.value["lines"][11]) == (
        "cat key",
        "done",
        "no key",
    )
    assert found.value["argv"] == ["docker", "login", 7, "-p", PASSWORD, "x"]
    assert redact_value(found.value, RULES).value == found.value
    cut = redact_value(["MIIEabcd0123MIIEabcd0123", "abcd", "-----END PRIVATE KEY-----"], RULES).value
    marked = ["-----BEGIN PRIVATE KEY-----", "[withheld: e-mail] -----END PRIVATE KEY-----"]
    assert redact_value(marked, RULES).value[1] == marked[1]
    assert cut == [PASSWORD, PASSWORD, "-----END PRIVATE KEY-----"]


@pytest.mark.parametrize(
    ("value", "reads"),
    [
        (
            {"name": "DB_PASSWORD", "value": "plumtree"},
            {"name": "DB_PASSWORD", "value": "[withheld: secret]"},
        ),
        ({"name": "DB_PASSWORD", "value": ""}, None),
        ({"name": "HOST", "value": "plumtree"}, None),
        ({"auth": "cm9ib3Q6anVuaXBlcg=="}, {"auth": "[withheld: secret]"}),
        ({"auth": "none"}, None),
        ({"smtp_pass": "plumtree"}, {"smtp_pass": "[withheld: secret]"}),
        ({"first_pass": "plumtree"}, None),
        ({"user": "ada", "pass": "plumtree"}, {"user": "ada", "pass": "[withheld: secret]"}),
        ({"pass": "plumtree"}, None),
        (
            {"command": "curl", "args": ["-u", "ada:plumtree", 7]},
            {"command": "curl", "args": ["-u", f"ada:{PASSWORD}", 7]},
        ),
        ({"command": "ssh", "args": ["-p", "plumtree"]}, None),
        ({"command": "sshpass -p", "args": "plumtree"}, None),
    ],
)
def test_a_value_is_withheld_by_the_name_beside_it(value: object, reads: object) -> None:
    assert redact_value(value, RULES).value == (reads or value)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("/home/ada/w", "/home/{}/w"),
        ("/Users/ada.b/w", "/Users/{}/w"),
        ("C:\\Users\\ada\\w", "C:\\Users\\{}\\w"),
        ("C:\\\\Users\\\\ada\\\\w", "C:\\\\Users\\\\{}\\\\w"),
        ("~/.claude/projects/-home-ada-w/x", "~/.claude/projects/-home-{}-w/x"),
        ("ada@box:~$ ls", "{}@{}:~$ ls"),
        ("USER=ada HOSTNAME=box", "USER={} HOSTNAME={}"),
        ("ping db1.internal", "ping {}"),
        ("uid=1000(ada) gid", "uid=1000({}) gid"),
        ('{"hostname": "box", "user": "ada"}', '{{"hostname": "{}", "user": "{}"}}'),
        ("psql -h db", "psql -h {}"),
        ("react@18.2.0 ada@example/x /home/runner/work, root@localhost: and /root, HOST=127", None),
    ],
)
def test_names_of_users_and_hosts_are_withheld_only_if_that_is_switched_on(
    text: str, reads: str | None
) -> None:
    mark = "[withheld: user or host (machine)]"
    expected = text if reads is None else reads.format(mark, mark)
    assert redact_text(text, Rules(detect=("machine",))).text == expected
    assert "machine" not in RULES.detect


def test_a_long_value_of_letters_alone_is_read_in_linear_time() -> None:
    begin = time.thread_time()
    assert findings_in(f"HF_TOKEN=hf_{'aBcDe' * 80}", RULES)
    assert time.thread_time() - begin < 5


@pytest.mark.parametrize(
    "unit",
    [
        "curl -u ",
        "mysql -",
        "'\"\\",
        "password: ",
        "<a name='password' ",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n",
        "abcd\n-----END ",
        "machine a login b ",
        "a://b:",
        "cookie: a=b; ",
        "echo a | ",
        "x@y ",
        "--token ",
    ],
)
def test_long_texts_are_searched_in_linear_time(unit: str) -> None:
    every = Rules(detect=(*RULES.detect, "machine"))
    findings_in(unit, every)
    times = []
    for size in (10_000, 40_000):
        begin = time.thread_time()
        findings_in(unit * (size // len(unit)), every)
        times.append(time.thread_time() - begin)
    assert times[1] < 12 * times[0] + 0.5


def test_two_parts_of_secrets_in_one_entry_are_both_withheld() -> None:
    key = "MIIEpAIBAAKCAQEA7b4f0c2d9e8a"
    end = "-----END RSA PRIVATE KEY----- curl --password s3cretPass99"
    found = redact_value(["-x", "-----BEGIN RSA PRIVATE KEY-----", key, end], Rules(detect=("password",)))
    assert key not in str(found.value)
    assert found.value[3] == f"{PASSWORD} curl --password {PASSWORD}"


def test_parts_of_secrets_that_overlap_are_withheld_once() -> None:
    begin, end = (f"-----{word} RSA PRIVATE KEY-----" for word in ("BEGIN", "END"))
    entries = ["-x", begin, "Comment: --token hunter2abcdef", end]
    found = redact_value(entries, Rules(detect=("password",)))
    assert found.value[2] == PASSWORD
