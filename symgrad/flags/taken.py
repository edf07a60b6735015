"""The flags that say which derivative is taken, and of what its records in the panel are called."""

from __future__ import annotations

from ..kernels.kernel import BACKENDS
from ..transforms.modes import MODES
from .derivative import KINDS
from .registry import Flag

FLAGS = [
    Flag(
        "wrt",
        "arguments or parameters to differentiate by, with commas: --wrt x,y (default: the first)",
        type=str,
        of_variables=True,
        of_arguments=True,
        chooses=True,
    ),
    Flag(
        "position",
        "the same by position, from 0: --position 0,1",
        type=str,
        chooses=True,
        gloss="by which inputs; one: bare, several: a tuple",
        call="grad",
        keyword="grad_position",
    ),
    Flag(
        "weights",
        "parameters of a Cell to differentiate by: --weights z,b, or all; with arguments: (by arguments, by these)",
        type=str,
        chooses=True,
        gloss="by parameters too: (by inputs, by parameters)",
        call="grad",
    ),
    Flag(
        "get_all",
        "by every argument, as a tuple",
        chooses=True,
        gloss="by every input, a tuple (off: by the first)",
        call="GradOperation",
    ),
    Flag(
        "by_list",
        "by every trainable parameter of the Cell, as a tuple; with --get-all: (by arguments, by parameters)",
        chooses=True,
        gloss="by the parameters passed along, a tuple",
        call="GradOperation",
        keyword="get_by_list",
    ),
    Flag(
        "sens",
        "the cotangent of the output, a variable or a literal; without it, of the summed output",
        type=str,
        of_variables=True,
        chooses=True,
        gloss="sens weighs the outputs (off: each weighs 1)",
        call="GradOperation",
        keyword="sens_param",
    ),
    Flag(
        "has_aux",
        "differentiate the first output only, and return the others too: (gradient, (others,))",
        chooses=True,
        gloss="differentiates the first output alone",
        call="grad",
    ),
    Flag(
        "return_ids",
        "each gradient g as (id, g), with its position or its parameter's name; see sg.get_grad",
        chooses=True,
        gloss="each gradient with its position or name",
        call="grad",
    ),
    Flag("holomorphic", "the complex derivative of a holomorphic function of complex arguments", chooses=True),
    Flag(
        "mode",
        "the sweep; all give the same numbers: reverse pays for few outputs, forward for few inputs",
        type=str,
        choices=MODES,
        chooses=True,
        gloss="the sweep; the same numbers",
        call="grad",
    ),
    Flag(
        "order",
        "how many times to derive: --order 2 is the second derivative, of one number by several the Hessian",
        type=int,
        chooses=True,
        gloss="2, 3: the gradient is summed and differentiated again",
    ),
    Flag("kind", "which derivative (default: grad)", type=str, choices=KINDS, chooses=True),
    Flag("jacobian", "every output by every input, in place of the gradient", chooses=True),
    Flag("hessian", "the second derivatives of the summed output", chooses=True),
    Flag("laplacian", "Δf, the sum of the second derivatives by each element of the arguments", chooses=True),
    Flag("divergence", "∇·F of a field, which gives as many numbers as its arguments hold", chooses=True),
    Flag("curl", "∇×F of a field in space, or in the plane", chooses=True),
    Flag("directional", "along a direction, which is the last argument; with --order k the k-th", chooses=True),
    Flag("taylor", "the Taylor coefficients up to this order, by a number: --taylor 5", type=int, chooses=True),
    Flag("sparse", "the Jacobian or Hessian as scipy.sparse", chooses=True),
    Flag("backend", "what the derivative runs on", type=str, choices=BACKENDS, chooses=True),
    Flag(
        "requires_grad",
        "a parameter with requires_grad=False is frozen: trainable_params() leaves it out",
        in_magic=False,
        on_command_line=False,
        gloss="which ones get_by_list and weights take; your net stays as it is",
    ),
    Flag(
        "stop_gradient",
        "as h = sg.stop_gradient(h) in the function: the value stays, the derivative through it is zero",
        in_magic=False,
        on_command_line=False,
        gloss="held constant: no derivative flows back through it",
    ),
]
