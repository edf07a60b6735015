"""Names in a target: valid there, distinct, and never a word of the target's own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_BINDING = re.compile(r"v\d+", re.IGNORECASE)


def target_names(
    labels: Iterable[str],
    reserved: Iterable[str],
    *,
    ascii: bool = True,
    caseless: bool = False,
    longest: int | None = None,
) -> list[str]:
    """A name for each label, of letters, digits and single underscores, that begins with a letter.

    No two are the same (where letters' case does not count, with ``caseless``), none is in ``reserved`` or of the
    form ``v0``, which generated bindings have, and none is longer than ``longest``. Letters of other scripts stay
    where not ``ascii``; else they are spelled out by their Unicode names.

    >>> target_names(["w", "fc.weight", "fc_weight", "for", "v1", "Δt", "</script>"], {"for"})
    ['w', 'fc_weight', 'fc_weight_2', 'for_', 'arg_v1', 'Delta_t', 'script']
    """
    fold = str.casefold if caseless else str
    words = {fold(word) for word in reserved}
    most = longest if longest is not None else 100
    taken: set[str] = set()
    names = []
    for label in labels:
        base = _plain(label, ascii)[:most].rstrip("_") or "arg"
        if fold(base) in words:
            base = f"{base[: most - 1]}_"
        if _BINDING.fullmatch(base):
            base = f"arg_{base}"[:most]
        name, count = base, 1
        while fold(name) in taken or fold(name) in words:
            count += 1
            name = f"{base[: most - len(str(count)) - 1].rstrip('_')}_{count}"
        taken.add(fold(name))
        names.append(name)
    return names


def _plain(label: str, ascii: bool) -> str:
    """Letters, digits and single underscores, a letter first."""
    label = unicodedata.normalize("NFKC", label)
    if ascii:
        label = "".join(c if c.isascii() else _spelled(c) for c in label)
    name = "".join(c if c == "_" or f"a{c}".isidentifier() else "_" for c in label)
    name = re.sub(r"_+", "_", name).strip("_")
    return name if not name or name[0].isalpha() else f"arg_{name}"


def _spelled(character: str) -> str:
    """The letter's own name in ASCII: Delta for Δ, e for é."""
    plain = unicodedata.normalize("NFKD", character)[0]
    if plain.isascii() and plain.isalpha():
        return plain
    name = unicodedata.name(character, "")
    found = re.search(r"LETTER (?:[A-Z]+ )*?([A-Z]+)$", name)
    if found is None:
        return "_"
    word = found[1].lower()
    return f"_{word.capitalize() if character.isupper() else word}_"
