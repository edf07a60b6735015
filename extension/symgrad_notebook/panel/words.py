"""What the flags mean: in a few words beside the control, and in a sentence for its tooltip.

The names are MindSpore's, but for the mode and the order, which are symgrad's.
"""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """A flag explained."""

    short: str
    long: str


CALLS = {
    "GradOperation": "MindSpore's operator: sg.GradOperation(get_all, get_by_list, sens_param)(f) is the gradient",
    "grad": "sg.grad(f, grad_position, weights, has_aux) is the gradient, by positions and parameters",
    "value_and_grad": "as grad, and the function's value with it: (value, gradient)",
}

MEANINGS = {
    "get_all": Meaning(
        "by every input, a tuple (off: by the first)",
        "on: a tuple with the gradient by each input; off: the bare gradient by the first input",
    ),
    "get_by_list": Meaning(
        "by the parameters passed along, a tuple",
        "the gradients by a list of parameters, a tuple; with get_all: (by inputs, by parameters)",
    ),
    "sens_param": Meaning(
        "sens weighs the outputs (off: each weighs 1)",
        "a last argument sens, of the output's shape: the gradient of Σ sens·out in place of Σ out",
    ),
    "grad_position": Meaning(
        "by which inputs; one: bare, several: a tuple",
        "the positions to differentiate by, from 0; none (None) needs weights",
    ),
    "weights": Meaning(
        "by parameters too: (by inputs, by parameters)",
        "a tuple of gradients by these parameters; with positions: (by inputs, by parameters)",
    ),
    "has_aux": Meaning(
        "differentiates the first output alone",
        "the first output is differentiated, the others are handed through: (gradient, (others,))",
    ),
    "return_ids": Meaning(
        "each gradient with its position or name",
        "each gradient g is (id, g), with its position or its parameter's name; see sg.get_grad",
    ),
    "mode": Meaning(
        "the sweep; the same numbers",
        "reverse pays for many inputs and few outputs, forward for few inputs; the numbers are the same",
    ),
    "requires_grad": Meaning(
        "which ones get_by_list and weights take; your net stays as it is",
        "a parameter with requires_grad=False is frozen: trainable_params() leaves it out",
    ),
    "stop_gradient": Meaning(
        "held constant: no derivative flows back through it",
        "as h = sg.stop_gradient(h) in the function: the value stays, the derivative through it is zero",
    ),
    "order": Meaning(
        "2, 3: the gradient is summed and differentiated again",
        "the gradient of the sum of all entries of the gradient, by the same inputs and parameters",
    ),
}
