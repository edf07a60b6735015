"""The mathematics: every primitive with its value, its shape and its local linear map."""

from . import kinks as kinks
from . import stable as stable  # what it adds to the functions is there before they are used
