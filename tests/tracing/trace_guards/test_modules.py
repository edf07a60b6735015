"""Modules, however they are reached, and names that are computed."""

import builtins
import functools
import importlib
import operator
import sys
import types

import numpy as np
from mutations import Cases, check

case = Cases()


@case
def imported_inside(world):
    made = world.module()

    def fn(x):
        import module_of_the_user

        return module_of_the_user.K * np.sum(x)

    return fn, lambda: setattr(made, "K", 5.0)


@case
def imported_inside_from(world):
    made = world.module()

    def fn(x):
        from module_of_the_user import K as k

        return k * np.sum(x)

    return fn, lambda: setattr(made, "K", 5.0)


@case
def function_imported_inside(world):
    made = world.module("K = 2.0\ndef k():\n    return K")

    def fn(x):
        from module_of_the_user import k

        return k() * np.sum(x)

    return fn, lambda: setattr(made, "K", 5.0)


@case
def sub_module_imported_inside(world):
    package = world.module("__path__ = []")
    package.part = made = world.module(name="module_of_the_user.part")

    def fn(x):
        import module_of_the_user.part as part

        return part.K * np.sum(x)

    return fn, lambda: setattr(made, "K", 5.0)


@case
def imported_inside_relative(world):
    package = world.module("__path__ = []")
    package.part = part = world.module(name="module_of_the_user.part")
    source = "def fn(x):\n    from .part import K\n    from . import part\n    return K * part.K * np.sum(x)"
    user = world.module(f"import numpy as np\n{source}", "module_of_the_user.use")
    return user.fn, lambda: setattr(part, "K", 5.0)


@case
def import_that_fails(world):
    source = "K = 2.0\ndef k():\n    try:\n        from .. import part\n    except ImportError:\n        return K"
    made = world.module(source)
    return lambda x: made.k() * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def another_module_of_that_name(world):
    world.module()

    def fn(x):
        import module_of_the_user

        return module_of_the_user.K * np.sum(x)

    return fn, lambda: world.module("K = 5.0")


@case
def module_that_is_imported_later(world):
    def fn(x):
        try:
            import module_of_the_user
        except ImportError:
            return np.sum(x)
        return module_of_the_user.K * np.sum(x)

    return fn, lambda: world.module()


@case
def imported_by_a_function(world):
    made = world.module()
    return lambda x: importlib.import_module("module_of_the_user").K * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def imported_by_a_computed_name(world):
    made, parts = world.module(), ["module", "of", "the", "user"]
    return (
        lambda x: importlib.import_module("_".join(parts)).K * np.sum(x),
        lambda: setattr(made, "K", 5.0),
    )


@case
def found_among_the_modules(world):
    made = world.module()
    return lambda x: sys.modules["module_of_the_user"].K * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def found_among_the_modules_by_a_computed_name(world):
    made = world.module()
    name = made.__name__
    return lambda x: sys.modules[name].K * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def attribute_of_a_module(world):
    made = world.module()
    return lambda x: made.K * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def attribute_of_a_module_passed_to_a_function(world):
    made = world.module()

    def rate(of):
        return of.K

    return lambda x: rate(made) * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def attribute_of_a_module_by_text(world):
    made = world.module()
    return lambda x: getattr(made, "K") * np.sum(x), lambda: setattr(made, "K", 5.0)  # noqa: B009


@case
def attribute_of_a_module_by_a_computed_name(world):
    made = world.module("rate_1 = 2.0")
    number = 1
    return lambda x: getattr(made, f"rate_{number}") * np.sum(x), lambda: setattr(made, "rate_1", 5.0)


@case
def global_of_a_function_by_a_computed_name(world):
    made = world.module("K = 2.0\ndef rate_1():\n    return K")
    number = 1
    return lambda x: getattr(made, f"rate_{number}")() * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def attribute_of_a_module_by_vars(world):
    made = world.module()
    name = "".join(["K"])
    return lambda x: vars(made)[name] * made.__dict__[name] * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def attribute_of_a_module_by_attrgetter(world):
    made, read = world.module(), operator.attrgetter("K")
    return lambda x: read(made) * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def attribute_of_a_module_that_comes_later(world):
    made = world.module()
    return lambda x: getattr(made, "LATE", 1.0) * np.sum(x), lambda: setattr(made, "LATE", 5.0)


@case
def getattr_of_a_module(world):
    made = world.module("K = 2.0\ndef __getattr__(name):\n    return K")
    return lambda x: made.anything * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def getattr_by_another_name(world):
    made, look, name = world.module(), getattr, "".join(["K"])
    return lambda x: look(made, name) * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def global_by_a_computed_name(world):
    made = world.module(
        "import numpy as np\nK = 2.0\ndef fn(x, name='k'):\n    return globals()[name.upper()] * np.sum(x)"
    )
    return made.fn, lambda: setattr(made, "K", 5.0)


@case
def global_by_eval(world):
    made = world.module("import numpy as np\nK = 2.0\ndef fn(x):\n    return eval('K + 0.0') * np.sum(x)")
    return made.fn, lambda: setattr(made, "K", 5.0)


@case
def global_of_another_function(world):
    made = world.module("K = 2.0\ndef f():\n    pass")
    source = "import numpy as np\ndef fn(x, f):\n    return f.__globals__['K'] * np.sum(x)"
    return functools.partial(world.module(source, "other").fn, f=made.f), lambda: setattr(made, "K", 5.0)


@case
def attribute_of_a_computed_name_that_comes_later(world):
    made, number = world.module(), 1
    return lambda x: getattr(made, f"rate_{number}", 2.0) * np.sum(x), lambda: setattr(made, "rate_1", 5.0)


@case
def built_in_name(world):
    world.patch.setattr(builtins, "OF_BUILTINS", 2.0, raising=False)
    change = functools.partial(world.patch.setattr, builtins, "OF_BUILTINS", 5.0)
    return lambda x: OF_BUILTINS * np.sum(x), change  # noqa: F821


@case
def built_in_function(world):
    return lambda x: abs(-2.0) * np.sum(x), lambda: world.patch.setattr(builtins, "abs", lambda v: 5.0)


@case
def module_in_a_folder_named_like_a_library(world):
    made = world.module()
    made.__file__ = "/home/user/lib/python/project/module_of_the_user.py"
    return lambda x: made.K * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def function_in_a_folder_named_like_a_library(world):
    made = types.ModuleType("module_of_the_user")
    world.patch.setitem(sys.modules, made.__name__, made)
    made.__file__ = "/home/user/lib/python3/my-site-packages-demo/module_of_the_user.py"
    exec(compile("K = 2.0\ndef k():\n    return K", made.__file__, "exec"), vars(made))
    return lambda x: made.k() * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def module_named_like_one_of_python(world):
    made = world.module("K = 2.0\ndef k():\n    return K", "cmd")
    made.__file__ = "/home/user/cmd.py"
    return lambda x: made.K * made.k() * np.sum(x), lambda: setattr(made, "K", 5.0)


@case
def class_of_a_module(world):
    made = world.module("K = 2.0\nclass A:\n    def k(self):\n        return K")
    return lambda x: made.A().k() * np.sum(x), lambda: setattr(made, "K", 5.0)


@case.each()
def test_a_change_is_seen(make, world):
    check(make, world)
