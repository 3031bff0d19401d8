"""The README of a bundle: what it is, how to check it, and what it does not prove. Pure."""

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
{replaced}Not told:         {untold}
"""
_OF_A_LOG: Final = """\
This is the log of project {id}, as it was signed at {sealed_at},
with its first {size} entries: every seal that was made, every erasure, every key, and the state of every access log.
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

Take tm_verify.py and the fingerprint of the key from somewhere else than from whoever gave you this file:
a bundle that brings its own verifier and its own key proves nothing. The verifier is a single file, to be read
before it is run.

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
- That this is the only history. Who holds the signing key could seal another one; compare a checkpoint that you
  kept earlier, or one that a witness kept.
- That nothing came after. What was sealed later is not in it.
- That report.html, this text and what statement.json says of names are right. They are signed, and not compared
  with the records.
- That a time is right: it is the server's clock, except where an authority dated the log.
{replays}{timestamps}"""
_REPLAYS: Final = """\
- That a replay shows why the model answered as it did: providers change their models.
"""
_REPLACED: Final = """\
The key of the seal was replaced since; replaced.json says by which, under its signature.
"""
_TIMESTAMPS: Final = """
Timestamps
----------
An authority (RFC 3161) dated signed states of the log: N.tsr is its answer to
the bytes of N.json. Such a timestamp says that this state, and so every seal in it, was there by that time; not
when anything was recorded, nor how long before. tm_verify.py checks that what is dated is a signed state of this
log, that the answer is of these bytes, and says its time. It does not check the authority's signature, nor its
chain of certificates. OpenSSL does, with the authority's own certificate, which you get from the authority:

    openssl ts -verify -in timestamps/N.tsr -data timestamps/N.json -CAfile AUTHORITY.pem
"""
_TREE_SHOWS: Final = """\
- statement.json names every file here by its SHA-256, and is signed.
- Each record holds a salted commitment to each of its fields, and the hash of the record before it.
- The tree over the records (RFC 6962) has the root that was signed when they were sealed.
- What is told is what was committed to then. What is withheld is counted, and cannot be guessed at.
{gone}- log.json shows that this seal was entered into the log of its project{before}.
"""
_GONE_BY_TOMBSTONES: Final = """\
- What was erased for good is counted beside it. Its salts are gone. The log's tombstones in erased.json say which
  fields, when, by whom and why.
"""
_GONE_BY_STATEMENT: Final = """\
- What was erased for good is counted beside it. Its salts are gone. The statement says how many fields and when the
  last; the tombstones, which prove it, are in the log of the project.
"""
_LOG_SHOWS: Final = """\
- statement.json names every file here by its SHA-256, and is signed.
- log/entries.jsonl is the log: an entry for each seal with its root, for each erasure (a tombstone), each key.
- log/checkpoints.jsonl is every state of it that was signed: the entries have each of these roots (RFC 6962).
- log/present.jsonl is what of the sealed things was there when this file was made. What was sealed, has no
  tombstone and is not there, or has another root, is named by the verifier. That what it names is there, the server
  says: ask for the bundle of each, and give it to the verifier beside this one (--older).
- log/access.jsonl is the lines of the access logs of share links; the log holds how many there were, and the hash
  of the last.
- log/witnessed.jsonl is what a witness was sent, and its answers, where there is a witness.
No session is in it: each has a bundle of its own.
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
    untold = f"{counted(about.erased, 'field')} erased for good, {about.withheld:,} withheld{_never(about)}"
    gone = (_GONE_BY_STATEMENT if tree["withholds"] else _GONE_BY_TOMBSTONES) if about.erased else ""
    number = counted(tree["size"], "record")
    named = {
        "records": f"its first {number}" if tree["state"] == "open" else f"all of its {number}",
        "sealed_by": about.sealed_by,
        "replaced": "" if about.sealed_by == key else _REPLACED,
        "shared": "".join(f"{line}\n" for line in of_link(about.link)),
        "before": "".join(f"{line}\n" for line in of_earlier(tree)),
        "untold": untold,
    }
    also = ", and earlier.json that the seals before it were" if tree.get("earlier") else ""
    shows = _TREE_SHOWS.format(gone=gone, before=also)
    return _written(_OF_A_TREE, shows, tree, key=key, dated=about.dated, replayed=about.replayed, **named)


def _never(about: About) -> str:
    if about.link is None or not about.never:
        return ""
    return (
        f" of what the link shows;\n                  {counted(about.never, 'field')} that no link tells: who made it, what judges were sent and "
        "answered,\n                  and in which other session an answer was first given"
    )


def of_earlier(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each previous seal in the statement."""
    for each in tree.get("earlier", ()):
        why = "it ran again since"
        if each["because"] == "erasure":
            why = f"replaced at {each['replaced_at']} after an erasure, by entry {each['log_entry']:,} of the log"
        yield f"Before it run {each['generation']} was sealed at {each['sealed_at']}, {counted(each['size'], 'record')} under {each['root']}: {why}."


def of_link(link: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what the bundle of a share link says about it; nothing without a link."""
    if link is None:
        return
    yield f"It is what the share link {link['id']} shows, and no more."
    if link.get("evidence_only"):
        yield "That is a link to the evidence alone: it tells the figures of each record, and no text."
    if profile := link.get("redaction"):
        yield f"Under the redaction profile {profile['name']}, version {profile['version']}: fields in which it finds anything are withheld."


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
