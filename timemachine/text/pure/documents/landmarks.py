"""The page chrome of a web page: its landmarks other than the main one, and form controls.

Landmarks are defined by HTML-AAM and WAI-ARIA: `nav` and `search` always; `aside`, `header` and `footer` if they belong
to the page and not to a part of its text (an article's footnotes stay). An element with an article, the main landmark
or the highest heading always stays. So do the words of a button in a heading.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_BY_TAG: Final = {
    "nav": "navigation",
    "search": "search",
    "aside": "complementary",
    "header": "banner",
    "footer": "contentinfo",
    "main": "main",
    "button": "button",
}
_WORDS: Final = {
    "navigation": "navigation",
    "search": "search",
    "complementary": "asides",
    "banner": "header",
    "contentinfo": "footer",
}
_OF_THE_PAGE: Final = frozenset(("complementary", "banner", "contentinfo"))
_CONTROLS: Final = frozenset(("label", "legend", "textarea", "output", "meter", "progress"))
_PARTS: Final = frozenset(("main", "article", "section"))
_HEADINGS: Final = frozenset(f"h{level}" for level in range(1, 7))
_MAIN: Final = "main, [role=main], article, h1"
_OF_A_FORM: Final = (
    "p, div, section, article, table, ul, ol, dl, pre, blockquote, center, fieldset, h1, h2, h3, h4, h5, h6"
)
CONTROLS: Final = "controls of forms"


class Landmarks:
    """Decides what to leave out of one page. Call `enter` and `leave` for every element. `found` names what was left out."""

    def __init__(self, root: "LexborNode") -> None:
        self.found: dict[str, None] = {}
        self._size = len(root.text())
        self._roles = {
            each.mem_id: (each.attributes.get("role") or "").lower().partition(" ")[0]
            for each in root.css("[role]")
        }
        self._has_main = root.css_first("main, [role=main]") is not None
        self._holding = _holding(root)
        self._parts = 0
        self._headings = 0

    def enter(self, node: "LexborNode") -> None:
        """What follows is inside this element."""
        self._parts += self._is_part(node)
        self._headings += node.tag in _HEADINGS

    def leave(self, node: "LexborNode") -> None:
        """What follows is no longer inside this element."""
        self._parts -= self._is_part(node)
        self._headings -= node.tag in _HEADINGS

    def leaves_out(self, node: "LexborNode") -> bool:
        """Return whether the words of this element are not part of the page's text."""
        name = self._name(node)
        if name is None or node.mem_id in self._holding:
            return False
        self.found[name] = None
        return True

    def _name(self, node: "LexborNode") -> str | None:
        tag = node.tag or ""
        role = self._role(node)
        if role in _WORDS:
            return _WORDS[role] if self._is_landmark(role, node) else None
        if tag == "dialog":
            return None if "open" in node.attributes else "closed dialogs"
        if tag in _CONTROLS or (role == "button" and not self._headings):
            return CONTROLS
        return CONTROLS if tag == "form" and node.css_first(_OF_A_FORM) is None else None

    def _is_landmark(self, role: str, node: "LexborNode") -> bool:
        if role in _OF_THE_PAGE and self._parts:
            return False
        # without a main landmark, an element with most of the page's text is not page chrome
        return self._has_main or (role != "banner" and 2 * len(node.text()) <= self._size)

    def _is_part(self, node: "LexborNode") -> bool:
        return node.tag in _PARTS or self._role(node) in {"main", "article", "region"}

    def _role(self, node: "LexborNode") -> str:
        return self._roles.get(node.mem_id) or _BY_TAG.get(node.tag or "", "")


def _holding(root: "LexborNode") -> frozenset[int]:
    """Return the elements that contain what is certainly text of the page, by memory address."""
    found: set[int] = set()
    for each in root.css(_MAIN):
        node: LexborNode | None = each
        while node is not None and node.mem_id not in found:
            found.add(node.mem_id)
            node = node.parent
    return frozenset(found)
