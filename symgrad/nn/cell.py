"""Cell: a network, or a part of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..compiled import CompiledFunction, is_tracing
from ..context import is_graph_mode
from ..differentiation.custom import call_with_rule
from ..errors import ArgumentError, ArgumentTypeError, CellError, TracingError
from ..tensor import UNNAMED, Parameter, ParameterTuple
from ..tracebacks import briefly
from ..tracing.trace import as_followed, current
from ..tracing.tracer import Tracer

__all__ = ["Cell"]


class Cell:
    """Base of networks: assign Parameters and Cells in ``__init__``, compute in ``construct``, call the cell.

    In graph mode ``construct`` is traced at the first call with inputs of some shapes and dtypes and its
    kernel runs from then on; an attribute that has changed since makes it traced anew, while the values of
    Parameters are read at every call. In pynative mode ``construct`` runs as it is. Inside a trace (a gradient
    of the cell, another cell) it becomes part of that trace.

    A Parameter that was given no name is named after its attribute; assigning a cell to an attribute puts
    that name in front (``fc.weight``), once: a cell that a second one holds as well keeps its names.
    Assigning an array to an attribute that is a Parameter sets the Parameter's data.

    A method ``bprop(self, *inputs, out, dout)``, returning a tuple with one gradient for each input (None for
    zero), takes the place of the derivative by the inputs.

    A cell without ``construct``, or one whose ``__init__`` did not call ``super().__init__()``, is a CellError.

    >>> class Scale(Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = Parameter([2.0])
    ...     def construct(self, x):
    ...         return x * self.factor
    >>> net = Scale()
    >>> net(np.array([1.0, 3.0], np.float32))
    Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  6.00000000e+00])
    >>> [p.name for p in net.trainable_params()]
    ['factor']
    """

    __slots__ = ("__dict__", "__weakref__", "_auto_prefix", "_compiled", "_held")  # what no trace depends on

    training: bool
    requires_grad: bool

    def __init__(self, auto_prefix: bool = True) -> None:
        object.__setattr__(self, "_compiled", CompiledFunction(self._apply, self))
        object.__setattr__(self, "_auto_prefix", auto_prefix)
        object.__setattr__(self, "_held", False)
        self.training = False
        self.requires_grad = False

    def construct(self, *inputs: Any) -> Any:
        """What the cell computes; every subclass has its own."""
        raise CellError(f"{type(self).__name__} has no construct(self, …): define what it computes.")

    @briefly
    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if is_tracing(inputs):
            return self._apply(*inputs, **kwargs)
        self._require_init()
        if not is_graph_mode():
            return self.construct(*inputs, **kwargs)
        return self._compiled(*inputs, **kwargs)

    def _apply(self, *inputs: Any, **kwargs: Any) -> Any:
        bprop: Callable | None = getattr(self, "bprop", None)
        if bprop is None:
            return as_followed(self.construct)(*inputs, **kwargs)
        if kwargs:
            raise ArgumentTypeError(f"{type(self).__name__} has a bprop, so its inputs are passed by position.")
        return call_with_rule(f"{type(self).__name__}.bprop", as_followed(self.construct), as_followed(bprop), inputs)

    def _guarded(self) -> dict[str, Any]:
        return dict(vars(self))

    # attributes

    def _require_init(self) -> None:
        if not hasattr(self, "_compiled"):
            name = type(self).__name__
            raise CellError(f"{name}.__init__ must call super().__init__() before anything else.")

    def __setattr__(self, name: str, value: Any) -> None:
        self._require_init()
        before = vars(self).get(name)
        if isinstance(value, Tracer):
            raise TracingError.here(
                f"a traced value is assigned to the attribute {name!r} of a Cell, where it outlives the trace. "
                "Return it from construct, or keep it in a local variable."
            )
        if isinstance(before, Parameter) and isinstance(value, np.ndarray) and not isinstance(value, Parameter):
            before.set_data(value)
            return
        if isinstance(value, Parameter) and value.name == UNNAMED:
            value.name = name
        elif isinstance(value, ParameterTuple):
            for k, parameter in enumerate(value):
                if parameter.name == UNNAMED:
                    parameter.name = f"{name}.{k}"
        elif isinstance(value, Cell) and not value._held:
            if self._auto_prefix:
                value.update_parameters_name(f"{name}.")
            object.__setattr__(value, "_held", True)
        object.__setattr__(self, name, value)

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return dict(vars(self)), {"_auto_prefix": self._auto_prefix, "_held": self._held}

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        attributes, own = state
        Cell.__init__(self, own["_auto_prefix"])
        object.__setattr__(self, "_held", own["_held"])
        vars(self).update(attributes)

    # parameters

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """``(path, parameter)`` for each Parameter, each once; ``expand=False`` leaves those of sub-cells out.

        The path is made of attribute names behind ``name_prefix``; members of a ParameterTuple go by their names.
        """
        seen: set[int] = set()
        for prefix, cell in self.cells_and_names(name_prefix) if expand else [(name_prefix, self)]:
            for name, value in vars(cell).items():
                if isinstance(value, Parameter):
                    found = [(name, value)]
                elif isinstance(value, ParameterTuple):
                    found = [(p.name, p) for p in value]
                else:
                    continue
                for own, parameter in found:
                    if id(parameter) not in seen:
                        seen.add(id(parameter))
                        yield (f"{prefix}.{own}" if prefix else own), parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Each Parameter once, those of sub-cells too unless ``expand=False``."""
        return (p for _, p in self.parameters_and_names(expand=expand))

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The Parameters with ``requires_grad``: what gradients are usually taken by."""
        return [p for p in self.get_parameters(recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The Parameters without ``requires_grad``."""
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> dict[str, Parameter]:
        """Parameters by name; an ArgumentError where two share one."""
        found: dict[str, Parameter] = {}
        for parameter in self.get_parameters(recurse):
            if found.setdefault(parameter.name, parameter) is not parameter:
                raise ArgumentError(f"two parameters are named {parameter.name!r}; give them names of their own.")
        return found

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Put ``prefix`` in front of the name of every Parameter."""
        for parameter in self.get_parameters(recurse):
            parameter.name = prefix + parameter.name

    # sub-cells

    def name_cells(self) -> dict[str, Cell]:
        """The Cells among the attributes, by attribute."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Cell)}

    def cells(self) -> list[Cell]:
        """The Cells among the attributes."""
        return list(self.name_cells().values())

    def cells_and_names(self, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """``(path, cell)`` for this cell and everything below it, each once."""
        pending: list[tuple[str, Cell]] = [(name_prefix, self)]
        seen: set[int] = set()
        while pending:
            path, cell = pending.pop()
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            yield path, cell
            below = [(f"{path}.{name}" if path else name, c) for name, c in cell.name_cells().items()]
            pending += reversed(below)

    def apply(self, fn: Callable[[Cell], Any]) -> Cell:
        """Call ``fn`` with every cell below this one and then with this one; returns this one."""
        for _, cell in reversed(list(self.cells_and_names())):
            fn(cell)
        return self

    # modes

    def set_train(self, mode: bool = True) -> Cell:
        """Set ``training`` here and below; layers such as Dropout go by it. Returns the cell."""
        return self._set_flag("training", mode)

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Set the flag ``requires_grad`` here and below. Returns the cell.

        The flag is kept for code that reads it; which gradients exist is decided by who asks for them.
        """
        return self._set_flag("requires_grad", requires_grad)

    def _set_flag(self, name: str, value: Any) -> Cell:
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"{name} must be True or False, got {value!r}.")
        if current() is not None:
            raise TracingError.here(f"{name} of a Cell is set inside a traced function; set it outside.")
        for _, cell in self.cells_and_names():
            setattr(cell, name, value)
        return self

    # text

    def extend_repr(self) -> str:
        """What ``repr`` says of the cell besides its name and its sub-cells."""
        return ""

    def __repr__(self) -> str:
        head = f"{type(self).__name__}<{self.extend_repr()}"
        lines = [f"  ({name}): " + repr(cell).replace("\n", "\n  ") for name, cell in self.name_cells().items()]
        return head + "".join(f"\n{line}" for line in lines) + ("\n>" if lines else ">")
