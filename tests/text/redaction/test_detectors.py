"""What the detectors find and what they leave unchanged."""

from base64 import b64encode, urlsafe_b64encode
from textwrap import wrap
from urllib.parse import quote

import pytest

from timemachine.text.redaction.pure.people import is_region
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.secrets import entropy, names_a_secret
from timemachine.text.redaction.pure.text import redact_text

SECRET = "[withheld: secret]"
HEX = "0123456789abcdef0123456789abcdef"
LONG = "abcdefghijABCDEFGHIJ0123456789abcdefghij"


def withheld(text: str, *detect: str, regions: tuple[str, ...] = ()) -> str:
    return redact_text(text, Rules(detect=detect, phone_regions=regions)).text


@pytest.mark.parametrize(
    "secret",
    [
        f"tmk_abcdefghijkm_{LONG}abc",
        f"tms_abcdefghijkm_{LONG}abc",
        "AKIAIOSFODNN7EXAMPLE",
        f"ghp_{LONG}",
        f"github_pat_{LONG}",
        "glpat-abcdefghijklmnopqrst",
        "xoxb-123456789012-abcdefghij",
        "xapp-1-A0123456789-abc",
        f"sk-ant-api03-{LONG}",
        f"sk-proj-{LONG}",
        f"sk-{LONG}",
        f"gsk_{LONG}",
        f"hf_{LONG}",
        f"AIza{LONG[:35]}",
        "GOCSPX-abcdefghijklmnopqrstuvwx",
        "sk_live_abcdefghij0123456789",
        f"npm_{LONG}",
        f"pypi-AgEIcHlwaS5vcmc{LONG}",
        "SG.abcdefghijklmnopqrst.abcdefghijklmnopqrst",
        f"SK{HEX}",
        "123456789:AAabcdefghijklmnopqrstuvwxyz0123456",
        f"dop_v1_{HEX}{HEX}",
        "hvs.abcdefghijklmnopqrstuvwx",
        "AGE-SECRET-KEY-1" + "Q" * 58,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk\\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nof which the end was never written\n",
    ],
)
def test_a_secret_is_found_by_its_form(secret: str) -> None:
    assert withheld(f"see: {secret}", "secret") == f"see: {SECRET}"
    assert withheld(f"see: {secret}", "email", "phone", "card").count("withheld") == 0


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("postgres://app:pa55@db:5432/x", f"postgres://app:{SECRET}@db:5432/x"),
        ("redis://:p@ss@cache/0", f"redis://:{SECRET}@cache/0"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {SECRET}"),
        ('"authorization": "Token abcdefgh12"', f'"authorization": "Token {SECRET}"'),
        ("curl -H 'X: Bearer abcdefghijklmnop.x'", f"curl -H 'X: Bearer {SECRET}'"),
        ("password = 'correct horse battery'", f"password = '{SECRET}'"),
        ('{"client_secret": "a b c d"}', f'{{"client_secret": "{SECRET}"}}'),
        ('{\\"api_key\\": \\"abc123XYZ\\"}', f'{{\\"api_key\\": \\"{SECRET}\\"}}'),
        ("DB_PASSWORD=hunter2!", f"DB_PASSWORD={SECRET}"),
        ("?access_token=abc123DEF456&x=1", f"?access_token={SECRET}&x=1"),
        ("AccountKey=abcDEF012+/==;Endpoint", f"AccountKey={SECRET};Endpoint"),
        (f"session = {LONG}", f"session = {SECRET}"),
    ],
)
def test_a_secret_is_found_by_the_text_before_it(text: str, reads: str) -> None:
    assert withheld(text, "secret") == reads


@pytest.mark.parametrize(
    "text",
    [
        "The password is required, and the token: optional.",
        "password: <your password>",
        "PASSWORD=${DB_PASSWORD}",
        'password: "********"',
        "api_key = os.environ['KEY']",
        "max_tokens: 4096, input_tokens=12345678",
        "a task-list-of-everything-that-is-to-be-done",
        "https://example.org:8080/a/b?mail=c@d.org",
        "sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "secret: everything",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    ],
)
def test_text_that_is_not_a_secret_is_kept(text: str) -> None:
    assert withheld(text, "secret") == text


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("password", True),
        ("dbPassword", True),
        ("client_secret", True),
        ("X-Api-Key", True),
        ("apikey", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("token", True),
        ("sessionToken", True),
        ("Authorization", True),
        ("Set-Cookie", True),
        ("input_tokens", False),
        ("tokens", False),
        ("key", False),
        ("secretary", False),
        ("", False),
        ("…", False),
    ],
)
def test_a_key_identifies_a_secret(key: str, secret: bool) -> None:
    assert names_a_secret(key) is secret


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("to jane.doe+x@mail.example.co.uk.", "to [withheld: e-mail]."),
        ("<jörg@müller.example>", "<[withheld: e-mail]>"),
        ("mailto:a_b%40example.org", "mailto:[withheld: e-mail]"),
        ("user=x@y.org,z@y.org", "user=[withheld: e-mail],[withheld: e-mail]"),
        ("package@1.2.3 and @name and a@b", None),
    ],
)
def test_an_email_address_is_found(text: str, reads: str | None) -> None:
    assert withheld(text, "email") == (reads or text)


@pytest.mark.parametrize(
    ("text", "regions", "reads"),
    [
        ("call +49 30 901820 now", (), "call [withheld: phone number] now"),
        ("(+1) 650-253-0000", (), "([withheld: phone number]"),
        ("0049 30 901820", (), "[withheld: phone number]"),
        ("030 901820", (), None),
        ("030 901820 daheim", ("DE",), "[withheld: phone number] daheim"),
        ("(650) 253-0000", ("US",), "[withheld: phone number]"),
        ("2026-11-22 18:09:00+00:00", (), None),
        ("1,234 + 5,678 = 6,912 or +12", (), None),
        ("00 99 99 99 99 99 99 99 99", (), None),
        ("1 2 +1 650 253 0000 2026-11-22", (), "1 2 [withheld: phone number] 2026-11-22"),
        ("+1 650-253-0000 650-253-0001", (), "[withheld: phone number] 650-253-0001"),
        ("+999 123456789", (), None),
        ("+4", (), None),
        ("+1 234567", (), None),
        ("+0 123 456 789", (), None),
        (
            "call +49 30 901820x12, or 030 901820x12",
            ("DE",),
            "call [withheld: phone number], or [withheld: phone number]",
        ),
        ("b71e0309018204acb6d7080a4930901820e1", ("DE", "US"), None),
        ("0049309018204acb6d708", (), None),
        ("3f2a0b1c-0309-0182-8204-acb6d7080a49", ("DE", "US"), None),
        ("00493090-1820-4649-8309-acb6d7080a49", ("DE",), None),
        ("room b71 030 901820", ("DE",), "room b71 [withheld: phone number]"),
        ('"tel\\n030 901820\\nbye"', ("DE",), '"tel\\n[withheld: phone number]\\nbye"'),
        ("tel%3A030901820", ("DE",), "tel%3A[withheld: phone number]"),
        ("电话030901820", ("DE",), "电话[withheld: phone number]"),
        (f"{'9-' * 70}; 030 901820", ("DE",), f"{'9-' * 70}; [withheld: phone number]"),
    ],
)
def test_a_phone_number_is_found(text: str, regions: tuple[str, ...], reads: str | None) -> None:
    assert withheld(text, "phone", regions=regions) == (reads or text)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("pay 4111 1111 1111 1111 12/27", "pay [withheld: card number] 12/27"),
        ("5555-5555-5555-4444", "[withheld: card number]"),
        ("378282246310005", "[withheld: card number]"),
        ("1 2221000000000009", "1 [withheld: card number]"),
        ("4111111111111112 has another check digit", None),
        ("9111111111111111 and 1700000000000 are none", None),
        ("94111111111111111 lies inside a longer number", None),
        ("92fa7acf9bca69989989143948a492fa7acf9bca69989989143948a492fa7acf", None),
        ("step 41af6257-1132-7050-8c28-02c8aaa1132a of 7df67235-1722-7516-94f7-fd331e6695f6", None),
        ("card4111111111111111and", "card[withheld: card number]and"),
        ("a4111111111111111b", "a[withheld: card number]b"),
    ],
)
def test_a_card_number_is_found(text: str, reads: str | None) -> None:
    assert withheld(text, "card") == (reads or text)


def test_a_region_has_two_capital_letters() -> None:
    assert is_region("DE")
    assert not is_region("de")


def test_entropy_is_bits_per_character() -> None:
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2


IBAN, SSN = "[withheld: bank account (IBAN)]", "[withheld: social security number (US)]"


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("pay to DE89370400440532013000.", f"pay to {IBAN}."),
        ("DE89 3704 0044 0532 0130 00 and more", f"{IBAN} and more"),
        ("gb29-nwbk-6016-1331-9268-19", IBAN),
        ("FR14\u00a02004\u00a01010\u00a00505\u00a00001\u00a03M02\u00a0606", IBAN),
        ("NO9386011117947", IBAN),
        ("MT84 MALT 0110 0001 2345 MTLC AST0 01S", IBAN),
        ('"to\\nNL91ABNA0417164300\\nthanks"', f'"to\\n{IBAN}\\nthanks"'),
        ("iban=CH9300762011623852957&x", f"iban={IBAN}&x"),
        ("GB29 DE89 3704 0044 0532 0130 00", f"GB29 {IBAN}"),
        ("DE88370400440532013000 has other check digits", None),
        ("DE893704004405320130 is too short", None),
        ("DE893704004405320130001 is too long", None),
        ("XX89370400440532013000 is no country's", None),
        ("abcDE89370400440532013000 goes on before", None),
        ("a0DE89370400440532013000 too", None),
        ("is26 and it10", None),
    ],
)
def test_an_iban_is_found(text: str, reads: str | None) -> None:
    assert withheld(text, "iban") == (reads or text)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("mine is 536-22-1987, keep it", f"mine is {SSN}, keep it"),
        ("SSN: 536 22 1987", f"SSN: {SSN}"),
        ("his social security number is 536221987", f"his social security number is {SSN}"),
        ('{"ssn": "536221987"}', '{"ssn": "' + SSN + '"}'),
        ("a\\n536-22-1987", f"a\\n{SSN}"),
        ("899-99-9999", SSN),
        ("000-22-1987, 666-22-1987 and 936-22-1987 are given to nobody", None),
        ("536-00-1987 and 536-22-0000 neither", None),
        ("536 22 1987 are three numbers", None),
        ("536221987 is one", None),
        ("1-536-22-1987 and 536-22-1987-1 and x536-22-1987 and 536-22-19870", None),
        ("ssn 000221987", None),
    ],
)
def test_a_social_security_number_is_found(text: str, reads: str | None) -> None:
    assert withheld(text, "ssn") == (reads or text)


def test_a_social_security_number_is_not_a_phone_number_when_both_are_detected() -> None:
    assert withheld("SSN 078-05-1120", "phone", "ssn", regions=("DE",)) == f"SSN {SSN}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("4111\u20111111\u20111111\u20111111", "card number"),
        ("4111\u20131111\u20131111\u20131111", "card number"),
        ("\uff14\uff11\uff11\uff11 1111 1111 1111", "card number"),
        ("4111\u202f1111\u202f1111\u202f1111", "card number"),
        ("4111\u200b1111\u200b1111\u200b1111", "card number"),
        ("536\u201122\u20111987", "social security number (US)"),
        ("536\u201322\u20131987", "social security number (US)"),
        ("\uff15\uff13\uff16-22-1987", "social security number (US)"),
        ("DE89\u20113704\u20110044\u20110532\u20110130\u201100", "bank account (IBAN)"),
        ("ada\u200b@example.org", "e-mail"),
        ("ada@exam\u00adple.org", "e-mail"),
        ("ada\uff20example.org", "e-mail"),
        ("+49 30\u200b 901820", "phone number"),
    ],
)
def test_matches_with_unicode_variants_are_found_completely(text: str, name: str) -> None:
    detect = ("email", "phone", "card", "iban", "ssn")
    assert withheld(f"ä\u200b {text} ö", *detect) == f"ä\u200b [withheld: {name}] ö"
    assert (
        withheld("zwei\u00adteilig, für\u200bwahr – 3 ‑ 4", *detect)
        == "zwei\u00adteilig, für\u200bwahr – 3 ‑ 4"
    )


PICTURE = b64encode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + bytes(range(256))).decode()
PADDED = PICTURE.rstrip("=") + "QQ=="
JPEG = urlsafe_b64encode(b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(range(200))).decode()
IMAGE = "[withheld: image (base64)]"


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        (PICTURE, IMAGE),
        (f"The page: {PICTURE} (cut)", f"The page: {IMAGE} (cut)"),
        (f'"{PICTURE}"', f'"{IMAGE}"'),
        (f"data:image/png;base64,{PICTURE[:60]}", f"data:image/png;base64,{IMAGE}"),
        ("\n".join(wrap(PADDED, 76)) + "\n$ ls\n", f"{IMAGE}\n$ ls\n"),
        ("\r\n  ".join(wrap(PADDED, 40)) + "\r\nThe end of it.", f"{IMAGE}\r\nThe end of it."),
        ("\\r\\n".join(wrap(PADDED, 76)) + " The end.", f"{IMAGE} The end."),
        (PICTURE.replace("/", "\\/"), IMAGE),
        (JPEG, IMAGE),
        (JPEG.replace("_", "\\/"), IMAGE),
        (
            f"src='data:image/png;base64,{quote(PADDED, safe='')}' alt",
            f"src='data:image/png;base64,{IMAGE}' alt",
        ),
        (b64encode(b"\x00\x00\x00\x1cftypavif" + bytes(200)).decode(), IMAGE),
        (b64encode(b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(200)).decode(), IMAGE),
    ],
)
def test_an_image_is_withheld_because_nobody_can_search_it(text: str, reads: str) -> None:
    assert withheld(text, "image") == reads


@pytest.mark.parametrize(
    "text",
    [PICTURE[:100], f"a{PICTURE}", "data:text/plain;base64,aGVsbG8=", "/9j/ is how they begin. " * 20],
)
def test_other_text_is_not_an_image(text: str) -> None:
    assert withheld(text, "image") == text
