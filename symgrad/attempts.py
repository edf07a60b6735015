"""Attempts: the ways in which a function is traced, one after the other until one gets through.

Its code runs as it is; where that asks what no traced value can answer, its calls are followed. Where it stays long in
a loop whose steps are alike, it runs with its calls followed and with steps left out, and where that cannot be, with
all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .errors import TracingError
from .tracing.calls import follow
from .tracing.host_scalars import Host
from .tracing.left_out import TraceAgain
from .tracing.library_calls import asks_to_follow
from .tracing.long_loops import ask_when_long
from .tracing.trace import Purpose, Trace
from .tracing.trace_guards import TraceGuards

Made = TypeVar("Made")


class Attempts:
    """What is known of how a function has to be traced.

    ``follows``: its calls are followed from the start. ``leaves_out``: whether it has loops of which steps can be left
    out; None where that was not tried.
    """

    def __init__(self, follows: bool) -> None:
        self.follows = follows
        self.leaves_out: bool | None = None

    def made(
        self,
        trace: Trace,
        host: Host | None,
        guards: TraceGuards,
        run: Callable[[Trace, Host | None], Made],
    ) -> tuple[Trace, Made]:
        """What the first ``run`` gives that gets through, and the trace that it was made in."""
        must_follow = self.follows or guards.is_followed
        may_leave_out = self.leaves_out is not False and trace.purpose is not Purpose.LINES
        is_shorter = may_leave_out and (must_follow or self.leaves_out is True)
        refused: Exception | None = None
        while True:
            trace.follow = follow if must_follow or is_shorter else None
            trace.left_out.may_start_again = guards.is_untouched
            trace.left_out.is_tried = is_shorter
            trace.left_out.is_purpose = is_shorter and not must_follow
            if may_leave_out and not is_shorter:
                ask_when_long(trace)
            try:
                made = run(trace, host)
                if trace.left_out.again is not None:
                    raise trace.left_out.again
            except TraceAgain as again:
                is_shorter = may_leave_out = not again.whole
            except (TracingError, TypeError, ValueError) as error:  # what code in C raises of what it does not take
                if is_shorter and not must_follow:  # it was followed for the sake of its loops alone
                    is_shorter = may_leave_out = False
                elif must_follow or not asks_to_follow(error):
                    if type(error) is TypeError and isinstance(refused, TypeError):
                        raise refused from None
                    raise
                else:
                    refused, must_follow, is_shorter = error, True, may_leave_out
            else:
                self.follows |= refused is not None
                if is_shorter or not may_leave_out:
                    self.leaves_out = trace.left_out.any
                return trace, made
            trace = guards.start_again(trace)
            host = host and host.anew(trace)
