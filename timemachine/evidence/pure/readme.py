"""The README of a bundle: what it is, how to check it, and what it does not prove."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.numbers import counted

_OF_A_TREE: Final = """\
This is {of} {id},
{records} (record 0 is the {of} itself), sealed at {sealed_at}.
{shared}{before}Root of the tree: {root}
The seal is signed by:
                  {sealed_by}
This file is signed by:
                  {key}
{replaced}Not disclosed:    {undisclosed}
"""
_OF_A_LOG: Final = """\
This is the log of project {id}, as it was signed at {sealed_at},
with its first {size} entries: every seal, every erasure, every key, and the state of every access log.
Root of the tree: {root}
Signed by:        {key}
"""
_TEXT: Final = """\
Evidence from Time Machine
==========================

{this}
To check it
-----------
You need Python 3.10 or newer, no network and nothing else:

    python3 tm_verify.py THIS.zip --key {key}

VERIFIED (exit code 0) means: it is consistent, and signed by that key. FAILED (1) means: it has faults, each of which
is named. Without --key it can only be CONSISTENT, SIGNER NOT CHECKED (3): anyone can make such a file with a key of
their own.

Get tm_verify.py and the fingerprint of the key from another source than this file: a bundle that brings its own
verifier and its own key proves nothing. The verifier is a single file that you can read before you run it.

One signature can be checked with OpenSSL alone. The bytes that are signed are those of DSSE
("DSSEv1", a space, the length of payloadType, a space, payloadType, a space, the length of the payload, a space,
the payload); keys.json holds each public key in PEM:

    openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin

What it shows
-------------
{shows}
What it does not prove
----------------------
- That the agent did what was recorded. Hashes prove that nothing changed since it was sealed, not that what was
  sent was true.
- That this is the only history. The owner of the signing key could seal another one; compare a checkpoint that you
  or a witness kept earlier.
- That nothing was recorded later. What was sealed later is not in it.
- That report.html, this text and the names in statement.json are right. They are signed, but not compared
  with the records.
- That a time is right: it is the server's clock, unless an authority dated the log.
{replays}{timestamps}"""
_REPLAYS: Final = """\
- That a replay shows why the model answered as it did: providers change their models.
"""
_REPLACED: Final = """\
The key of the seal has been replaced; replaced.json names the new key, and the verifier reports whether the old one
signed that.
"""
_TIMESTAMPS: Final = """
Timestamps
----------
An authority (RFC 3161) dated signed states of the log: N.tsr is its answer to
the bytes of N.json. Such a timestamp shows that this state, and so every seal in it, existed by that time, but
not when anything was recorded. tm_verify.py checks that the dated state is a signed state of this log and that
the answer belongs to these bytes, and prints its time. It does not check the authority's signature or its
chain of certificates. OpenSSL does, with the authority's own certificate, which you get from the authority:

    openssl ts -verify -in timestamps/N.tsr -data timestamps/N.json -CAfile AUTHORITY.pem
"""
_TREE_SHOWS: Final = """\
- statement.json names every file here by its SHA-256, and is signed.
- Each record holds a salted commitment to each of its fields, and the hash of the record before it.
- The tree over the records (RFC 6962) has the root that was signed when they were sealed.
- Every disclosed field matches its commitment. Withheld fields are counted, and cannot be guessed.
- The status, start and end of a session are those that were signed with its seal.
{erasures}- log.json shows that this seal was entered into the log of its project{before}.
"""
_ERASED_BY_TOMBSTONES: Final = """\
- Permanently erased fields are counted separately. Their salts were deleted. The log's tombstones in erased.json
  name the fields, when, by whom and why.
"""
_ERASED_BY_STATEMENT: Final = """\
- Permanently erased fields are counted separately. Their salts were deleted. The statement has their number and the
  time of the last erasure; the tombstones, which prove it, are in the log of the project.
"""
_LOG_SHOWS: Final = """\
- statement.json names every file here by its SHA-256, and is signed.
- log/entries.jsonl is the log: an entry for each seal with its root, for each erasure (a tombstone), each key.
- log/checkpoints.jsonl has every signed state of the log: the entries have each of these roots (RFC 6962).
- log/present.jsonl lists what existed when this file was made. The verifier names everything sealed that has no
  tombstone and is missing, or has another root. Only the server states that the listed items exist: ask for the
  bundle of each, and give it to the verifier together with this one (--older).
- log/access.jsonl has the lines of the access logs of share links; the log has their number and the hash of the
  last.
- log/audit.jsonl, if it is there, has the lines of the audit log: who did what in the project. The log has their number
  and the hash of the last.
- log/witnessed.jsonl has what was sent to a witness, and its answers, if there is a witness.
It contains no sessions: each has a bundle of its own.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the README says besides the tree: who signed its state, how many fields are not disclosed.

    `link` is what the statement says about the share link, None without one. `never` counts fields that no
    link shows; `withheld` excludes them. `dated` and `replayed` tell whether there are timestamps and
    replayed steps.
    """

    sealed_by: str
    erased: int
    withheld: int
    never: int = 0
    link: Mapping[str, Any] | None = None
    dated: bool = False
    replayed: bool = False


def readme(tree: Mapping[str, Any], key: str, about: About) -> str:
    """Return the text for the bundle of that tree, whose statement that key signs."""
    undisclosed = (
        f"{counted(about.erased, 'field')} erased permanently, {about.withheld:,} withheld{_never(about)}"
    )
    erasures = (_ERASED_BY_STATEMENT if tree["withholds"] else _ERASED_BY_TOMBSTONES) if about.erased else ""
    number = counted(tree["size"], "record")
    named = {
        "records": f"its first {number}" if tree["state"] == "open" else f"all of its {number}",
        "sealed_by": about.sealed_by,
        "replaced": "" if about.sealed_by == key else _REPLACED,
        "shared": "".join(f"{line}\n" for line in of_link(about.link)),
        "before": "".join(f"{line}\n" for line in of_earlier(tree)),
        "undisclosed": undisclosed,
    }
    also = ", and earlier.json that the earlier seals were" if tree.get("earlier") else ""
    shows = _TREE_SHOWS.format(erasures=erasures, before=also)
    return _written(_OF_A_TREE, shows, tree, key=key, dated=about.dated, replayed=about.replayed, **named)


def _never(about: About) -> str:
    if about.link is None or not about.never:
        return ""
    return (
        f" of what the link shows;\n                  {counted(about.never, 'field')} that no link shows: who made it, what judges were sent and "
        "answered,\n                  and in which other session an answer was first given"
    )


def of_earlier(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each previous seal in the statement."""
    for each in tree.get("earlier", ()):
        why = f"the {tree['of']} ran again later"
        if each["because"] == "erasure":
            why = f"replaced at {each['replaced_at']} after an erasure, by entry {each['log_entry']:,} of the log"
        yield f"Before it, run {each['generation']} was sealed at {each['sealed_at']}, {counted(each['size'], 'record')} under {each['root']}: {why}."


def of_link(link: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what the bundle of a share link says about it; nothing without a link."""
    if link is None:
        return
    yield f"It is what the share link {link['id']} shows, and no more."
    if link.get("evidence_only"):
        yield "This link shows only the evidence: the numbers of each record, but no text."
    if profile := link.get("redaction"):
        yield f"Under the redaction profile {profile['name']}, version {profile['version']}: fields that it matches are withheld."


def log_readme(log: Mapping[str, Any], key: str, *, dated: bool = False) -> str:
    """Return the text for the bundle of a project's log; `dated` if it has timestamps."""
    return _written(_OF_A_LOG, _LOG_SHOWS, log, key=key, dated=dated, replayed=False)


def _written(
    this: str, shows: str, named: Mapping[str, Any], key: str, *, dated: bool, replayed: bool, **more: str
) -> str:
    return _TEXT.format(
        this=this.format(key=key, **named, **more),
        shows=shows,
        key=key,
        replays=_REPLAYS if replayed else "",
        timestamps=_TIMESTAMPS if dated else "",
    )
