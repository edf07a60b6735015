"""Attempts: the ways in which a function is traced, one after the other until one gets through.

A function that may have effects runs once, its calls followed. The code of others runs as it is; where that asks what
no traced value can answer, it runs again with its calls followed. Where it stays long in a loop whose steps are alike,
it runs with its calls followed and with steps left out, and where that cannot be, with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .errors import TracingError
from .tracing.calls import follow
from .tracing.host_scalars import Host
from .tracing.left_out import TraceAgain
from .tracing.library_calls import asks_to_follow, refuse_without_source
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
        must_follow = self.follows or guards.is_followed or guards.has_effects
        may_leave_out = self.leaves_out is not False and trace.purpose is not Purpose.LINES and not guards.has_effects
        is_shorter = may_leave_out and (must_follow or self.leaves_out is True)
        refused: Exception | None = None
        while True:
            left_out = trace.left_out
            trace.follow = follow if must_follow or is_shorter else None
            left_out.may_start_again = guards.may_run_again
            left_out.is_tried, left_out.is_purpose = is_shorter, is_shorter and not must_follow
            if may_leave_out and not is_shorter:
                ask_when_long(trace)
            try:
                made = run(trace, host)
                if left_out.again is None:
                    if trace.purpose is not Purpose.LINES and (left_out.any or not may_leave_out):
                        self.leaves_out = left_out.any
                    return trace, made
            except TraceAgain:
                pass
            except Exception as error:
                if left_out.again is not None:
                    pass  # which the function has held up, and made this of
                elif not isinstance(error, (TracingError, TypeError, ValueError)):  # what C raises of what it refuses
                    raise
                elif left_out.is_purpose:
                    may_leave_out = is_shorter = False
                elif must_follow or not asks_to_follow(error):
                    if must_follow and asks_to_follow(error):
                        refuse_without_source(error, trace.without_source)
                    if type(error) is TypeError and isinstance(refused, TypeError):
                        raise refused from None
                    raise
                else:
                    refused, must_follow, is_shorter = error, True, may_leave_out
            finally:
                trace.graph.ask_no_more()  # which would hold the trace as long as the graph, and ask of later passes
            if left_out.again is not None:
                may_leave_out = is_shorter = not left_out.again.whole
            self.follows |= must_follow
            trace = guards.again(trace)
            host = host and host.anew(trace)
