"""ASN.1 in DER as far as a timestamp needs it: the certificates beside a signature in the order that DER demands, which few authorities keep."""

from typing import Final

_SEQUENCE: Final = 0x30
_CONTENT: Final = 0xA0  # [0], as the certificates have it, too


def with_sorted_certificates(answer: bytes) -> bytes:
    """An authority's answer (RFC 3161) with the certificates of its token (RFC 5652) in order: no signature covers that. As it is where it has another form."""
    try:
        return _inside(answer, [(_SEQUENCE, 1), (_SEQUENCE, 1), (_CONTENT, 0), (_SEQUENCE, 3)])
    except (IndexError, ValueError):
        return answer


def _inside(data: bytes, way: list[tuple[int, int]]) -> bytes:
    """An element whose parts are in order at the end of the way, which names for each step the tag and the part that leads on."""
    (element,) = _elements(data)
    tag, content = element[0], _content(element)
    parts = _elements(content)
    if not way:
        if tag != _CONTENT:
            raise ValueError("there are no certificates")
        return _made(tag, b"".join(sorted(parts)))
    (wanted, at), *rest = way
    if tag != wanted:
        raise ValueError("another form")
    parts[at] = _inside(parts[at], rest)
    return _made(tag, b"".join(parts))


def _elements(data: bytes) -> list[bytes]:
    """The elements that stand behind each other. Raises `IndexError` or `ValueError` where they do not fill it."""
    found, begin = list[bytes](), 0
    while begin < len(data):
        head, length = _head(data[begin : begin + 6])
        end = begin + head + length
        if end > len(data):
            raise ValueError("it ends too early")
        found.append(data[begin:end])
        begin = end
    return found


def _content(element: bytes) -> bytes:
    return element[_head(element[:6])[0] :]


def _head(data: bytes) -> tuple[int, int]:
    """How long an element's tag and length are, and its content."""
    first = data[1]
    if first < 0x80:  # noqa: PLR2004  # the short form
        return 2, first
    many = first & 0x7F
    if not 1 <= many <= 4:  # noqa: PLR2004  # four bytes are more than an answer has
        raise ValueError("another form")
    return 2 + many, int.from_bytes(data[2 : 2 + many])


def _made(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:  # noqa: PLR2004
        return bytes([tag, length]) + content
    size = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(size)]) + size + content
