"""Programs with loops as recurrences: what a step makes of what it is given, and sums over steps.

Program ─ unfolding ─► equations in values with a step (``h_t``, ``λ_{t+1}``), sums and rows (steps)
        ─ sharing ─► what several of them read has a name (naming) ─ lines ─► text, LaTeX
"""

from .lines import Recurrences, recurrences

__all__ = ["Recurrences", "recurrences"]
