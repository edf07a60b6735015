"""Names as LaTeX: words upright as one, Greek letters as commands, accents as accents, numbers as indices."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable

_SPELLED = """
    alpha α  beta β  gamma γ  delta δ  epsilon ε  zeta ζ  eta η  theta θ  iota ι  kappa κ  lambda λ
    mu μ  nu ν  xi ξ  pi π  rho ρ  sigma σ  tau τ  upsilon υ  phi φ  chi χ  psi ψ  omega ω
    varepsilon ε  vartheta ϑ  varkappa ϰ  varrho ϱ  varsigma ς  varphi φ
    Gamma Γ  Delta Δ  Theta Θ  Lambda Λ  Xi Ξ  Pi Π  Sigma Σ  Upsilon Υ  Phi Φ  Psi Ψ  Omega Ω
"""
#: Greek letters that are commands, as characters
GREEK = dict(re.findall(r"(\w+) (\w)", _SPELLED))
#: capitals that look as Latin ones do
_LATIN = {"Alpha": "A", "Beta": "B", "Epsilon": "E", "Zeta": "Z", "Eta": "H", "Iota": "I"}
_LATIN |= {"Kappa": "K", "Mu": "M", "Nu": "N", "Rho": "P", "Tau": "T", "Chi": "X"}
_COMMANDS = {w: rf"\{w}" for w in GREEK} | {w: rf"\mathrm{{{c}}}" for w, c in _LATIN.items()}
#: how code spells what is a keyword in Python, or long
_COMMANDS |= {"lam": r"\lambda", "lamda": r"\lambda", "lmbda": r"\lambda", "eps": r"\epsilon"}
#: commands of accents: the mark that follows a letter, and the one that stands alone
ACCENTS = {"grave": "\u0300`", "acute": "\u0301´", "hat": "\u0302^", "tilde": "\u0303~", "bar": "\u0304¯"}
ACCENTS |= {"breve": "\u0306˘", "dot": "\u0307˙", "ddot": "\u0308¨", "mathring": "\u030a˚", "check": "\u030cˇ"}
_MARKS = {marks[0]: command for command, marks in ACCENTS.items()}
#: marks over a whole word, put over its first letter, or over all of them, in text
_OVER = {"\u0304": r"\bar", "\u0305": r"\overline", "\u0307": r"\dot"}
#: words behind a name that are marks over it; derivatives have bars and dots
_WORDS_OVER = ("hat", "tilde")
_BELOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
#: what an index of steps is made of, as it is lowered in text
LOWERED = dict(zip("0123456789+-tsrknmpl", "₀₁₂₃₄₅₆₇₈₉₊₋ₜₛᵣₖₙₘₚₗ", strict=True))
LOWER_SIGNS = "".join(LOWERED.values())
_RAISED = {lowered: c for c, lowered in LOWERED.items()}
_INDEX = re.compile(f"[{LOWER_SIGNS}]+$")
_ELEMENT = re.compile(r"\[\d+\]$")


@functools.lru_cache(maxsize=4096)
def name_latex(name: str) -> str:
    r"""LaTeX of a name; what follows a digit or an underscore is an index. No other sign of it is left.

    >>> print(name_latex("x1"), name_latex("theta_max"), name_latex("fc_weight"), name_latex("é"))
    x_{1} \theta_{\mathit{max}} \mathit{fc}_{\mathit{weight}} \acute{e}
    >>> print(name_latex("v̄₁"), name_latex("l̅o̅s̅s̅"), name_latex("h_aₜ₊₁"))
    \bar{v}_{1} \overline{\mathit{loss}} h_{a,t+1}
    >>> print(name_latex("lam"), name_latex("x_hat"), name_latex("mu_tilde_1"))
    \lambda \hat{x} \tilde{\mu}_{1}
    >>> print(name_latex("k1ₜ[2]"))
    k_{1,t}[2]
    """
    element = _ELEMENT.search(name)
    if element is not None:
        return name_latex(name[: element.start()]) + element[0]
    index = _INDEX.search(name)
    steps = [] if index is None else re.findall(r"[a-z](?:[+-]\d+)?|\d+", "".join(_RAISED[c] for c in index[0]))
    bare = name if index is None else name[: index.start()]
    stem, *below = re.findall(r"(?:[^\W\d_][\u0304\u0305\u0307]*)+|\d+", bare.translate(_BELOW)) or ["x"]
    over = [w for w in below if w in _WORDS_OVER]
    made = functools.reduce(lambda inside, word: rf"\{word}{{{inside}}}", over, _marked(stem))
    below = [*[_marked(w) for w in below if w not in over], *steps]
    return made + (f"_{{{','.join(below)}}}" if below else "")


def _marked(word: str) -> str:
    """A word under the marks that are over its first letter."""
    spelled = unicodedata.normalize("NFD", word)
    marks = [c for c in itertools.takewhile(unicodedata.combining, spelled[1:]) if c in _OVER]
    if not marks:
        return _word(word)
    made = _word(unicodedata.normalize("NFC", re.sub("[\u0304\u0305\u0307]", "", spelled)))
    for mark in marks:
        wide = mark != "\u0305" or made.startswith(r"\mathit")
        over = _OVER[mark] if wide else r"\bar"
        made = rf"{over}{{{made}}}"
    return made


def without_steps(name: str) -> str:
    """A name without the index of a step."""
    return name.rstrip(LOWER_SIGNS)


def words_in(names: Iterable[str]) -> set[str]:
    """The names without steps, and the letters that count these.

    >>> sorted(words_in(["kₜ₊₁", "u0"]))
    ['k', 't', 'u0']
    """
    counted = {_RAISED[c] for name in names for c in name[len(without_steps(name)) :]}
    return {without_steps(name) for name in names} | {c for c in counted if c.isalpha()}


class SafeName(str):
    """A name that was made of safe ones, under marks or with an index, and is shown as it is."""

    __slots__ = ()


def _word(word: str) -> str:
    """A run of letters or of digits."""
    if word in _COMMANDS:
        return _COMMANDS[word]
    if word.isascii():
        return word if len(word) == 1 or word.isdecimal() else rf"\mathit{{{word}}}"
    letters = " ".join(map(_letter, word))
    return letters if len(word) == 1 else f"{{{letters}}}"


def _letter(character: str) -> str:
    """One letter: Greek as a command, marks as accents; any other by the number it has in Unicode."""
    plain, *marks = unicodedata.normalize("NFKD", character)
    if plain.isascii() and plain.isalnum() and all(m in _MARKS for m in marks):
        for mark in marks:
            plain = rf"\{_MARKS[mark]}{{{plain}}}"
        return plain
    found = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)", unicodedata.name(character, ""))
    if found:
        spelled = {"LAMDA": "LAMBDA"}.get(found[2], found[2]).lower()
        word = spelled.capitalize() if found[1] == "CAPITAL" else spelled
        if word in _COMMANDS:
            return _COMMANDS[word]
    return rf"\mathrm{{U{ord(character):X}}}"
