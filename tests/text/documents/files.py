"""Realistic files, built byte by byte."""

import zlib
from collections.abc import Sequence

LINE_HEIGHT = 14


def pdf(
    pages: Sequence[Sequence[str]],
    *,
    title: str = "",
    outline: Sequence[tuple[str, int]] = (),
    encrypted: bool = False,
    compressed: bool = True,
) -> bytes:
    """Return a PDF. Each page is a list of lines ("" skips one); the outline has titles with their page from 1 (0: none)."""
    objects: list[bytes] = [
        b"",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    numbers = []
    for lines in pages:
        drawn = (
            b"BT /F1 11 Tf 50 800 Td "
            + b" ".join(b"(" + _escaped(line) + b") Tj 0 -%d Td" % LINE_HEIGHT for line in lines)
            + b" ET"
        )
        objects.append(stream(drawn, compressed=compressed))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 850] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            % len(objects)
        )
        numbers.append(len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (
        b" ".join(b"%d 0 R" % n for n in numbers),
        len(numbers),
    )
    catalog = b"<< /Type /Catalog /Pages 2 0 R"
    if outline:
        root = len(objects) + 1
        last = root + len(outline)
        objects.append(
            b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (root + 1, last, len(outline))
        )
        for at, (name, page) in enumerate(outline):
            own = root + 1 + at
            next_sibling = b" /Next %d 0 R" % (own + 1) if own < last else b""
            target = b" /Dest [%d 0 R /Fit]" % numbers[page - 1] if page else b""
            objects.append(
                b"<< /Title (%s) /Parent %d 0 R%s%s >>" % (_escaped(name), root, target, next_sibling)
            )
        catalog += b" /Outlines %d 0 R" % root
    objects[0] = catalog + b" >>"
    trailer = b"/Root 1 0 R"
    if title:
        objects.append(b"<< /Title (%s) >>" % _escaped(title))
        trailer += b" /Info %d 0 R" % len(objects)
    if encrypted:
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"41" * 32, b"42" * 32))
        trailer += b" /Encrypt %d 0 R /ID [<00><00>]" % len(objects)
    return _file(objects, trailer)


def stream(drawn: bytes, *, compressed: bool = True) -> bytes:
    """Return a stream object."""
    data = zlib.compress(drawn, 9) if compressed else drawn
    how = b" /Filter /FlateDecode" if compressed else b""
    return b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(data), how, data)


def bomb(megabytes: int) -> bytes:
    """Return a small PDF whose only page unpacks to this many megabytes of drawing."""
    drawn = zlib.compress(
        b"BT /F1 11 Tf 50 800 Td " + b"(boom) Tj 0 -1 Td " * (megabytes * 1024 * 1024 // 18) + b" ET", 9
    )
    content = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(drawn), drawn)
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            content,
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 850] /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
        ],
        b"/Root 1 0 R",
    )


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _file(objects: Sequence[bytes], trailer: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)
