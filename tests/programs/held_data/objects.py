"""Data as people hold it: dataclasses, attrs classes, namespaces, named tuples and dicts, as arguments and results."""

import math
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import NamedTuple

import attrs
import numpy as np
from collection import program

X = np.array([[0.5, 1.0], [-1.5, 0.25], [2.0, -1.0]])
Y = np.array([1.0, -1.0, 0.5])


@dataclass
class Linear:
    w: np.ndarray
    b: float

    def predict(self, X):
        return X @ self.w + self.b

    @property
    def size(self):
        return math.sqrt(self.w @ self.w)


@dataclass(frozen=True)
class Kernel:
    length: float
    noise: float
    kind: str = "rbf"


@dataclass(slots=True)
class Particle:
    at: np.ndarray
    mass: float = 1.0
    label: str | None = None


@dataclass(kw_only=True)
class Pendulum:
    length: float
    damping: float = 0.1
    steps: int = 5


@dataclass
class Network:
    layers: list = field(default_factory=list)
    scale: float = 1.0


@dataclass
class Scaled(Linear):
    factor: float = 2.0

    def predict(self, X):
        return self.factor * super().predict(X)


class State(NamedTuple):
    angle: float
    speed: float

    def energy(self):
        return 0.5 * self.speed**2 + 9.81 * (1 - math.cos(self.angle))


@attrs.define
class Spring:
    stiffness: float
    ends: np.ndarray


Point = namedtuple("Point", "x y")
LINEAR = Linear(np.array([0.3, -0.2]), 0.1)


@program(LINEAR, X, Y)
def squared_error(model, X, y):
    return np.mean((model.predict(X) - y) ** 2)


@program(LINEAR, X, Y)
def penalised(model, X, y):
    return np.sum(np.abs(X @ model.w + model.b - y)) + 0.1 * model.size


@program(LINEAR)
def a_dataclass_as_result(model):
    return Linear(np.array([model.w[1], math.exp(model.w[0])]), model.b * 2)


@program(Kernel(0.7, 0.1), X)
def kernel_matrix(kernel, X):
    n = len(X)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            r = math.dist(X[i], X[j])
            K[i, j] = math.exp(-(r**2) / kernel.length**2) if kernel.kind == "rbf" else r
    np.fill_diagonal(K, K.diagonal() + kernel.noise)
    return K


@program([Particle(np.array([0.0, 1.0])), Particle(np.array([1.0, -0.5]), 2.0, "b")])
def potential(particles):
    energy = 0.0
    for i, p in enumerate(particles):
        for q in particles[:i]:
            energy -= p.mass * q.mass / math.hypot(*(p.at - q.at))
    return energy


@program(Particle(np.array([0.5, 1.5]), 3.0, "probe"))
def moved_particle(p):
    at = np.empty(2)
    at[0], at[1] = p.at[1], -p.at[0] * p.mass
    return Particle(at, p.mass, p.label)


@program(Pendulum(length=1.2))
def swing(p):
    angle, speed = 0.3, 0.0
    for _ in range(p.steps):
        speed += 0.05 * (-9.81 / p.length * math.sin(angle) - p.damping * speed)
        angle += 0.05 * speed
    return np.array([angle, speed])


@program(Network([{"w": np.eye(2) * 0.5, "b": np.zeros(2)}, {"w": np.ones((2, 1)), "b": np.array([0.2])}]), X)
def forward(net, X):
    for layer in net.layers:
        X = np.tanh(X @ layer["w"] + layer["b"])
    return net.scale * X.sum()


@program(Scaled(np.array([1.0, 2.0]), 0.5), X)
def inherited(model, X):
    return model.predict(X)


@program(Scaled(np.array([1.0, 2.0]), 0.5))
def replaced(model):
    other = replace(model, b=model.b**2)
    return other.w * other.b * other.factor


@program(State(0.4, 1.5))
def energy_of_a_named_tuple(s):
    return s.energy()


@program(State(0.4, 1.5))
def a_named_tuple_as_result(s):
    angle, speed = s
    return State(angle + 0.1 * speed, speed - 0.981 * math.sin(angle))


@program(Point(np.array([1.0, 2.0]), 0.5))
def a_plain_named_tuple(p):
    return Point(x=p.y * p.x, y=float(p.x[0]))


@program(Spring(2.5, np.array([0.0, 1.5])))
def an_attrs_class(s):
    return 0.5 * s.stiffness * (s.ends[1] - s.ends[0] - 1.0) ** 2


@program(Spring(2.5, np.array([0.0, 1.5])))
def an_attrs_class_as_result(s):
    return attrs.evolve(s, stiffness=s.stiffness * s.ends[1])


@program(SimpleNamespace(mu=0.5, sigma=1.5), Y)
def a_namespace(p, y):
    return sum(-0.5 * ((v - p.mu) / p.sigma) ** 2 - math.log(p.sigma) for v in y)


@program(SimpleNamespace(a=np.ones(2), inner=SimpleNamespace(b=2.0)))
def nested_namespaces(p):
    out = np.zeros(2)
    out[:] = p.a * p.inner.b
    out[0] **= 2
    return SimpleNamespace(out=out, total=out.sum())


@program({"w": np.array([0.5, 0.25]), "b": 0.1}, X, "first")
def a_dict_beside_text(params, X, name):
    return np.tanh(X @ params["w"] + params["b"]) * (2.0 if name == "first" else 1.0)


@program(OrderedDict(b=np.ones(2), a=2.0))
def an_ordered_dict(d):
    return OrderedDict((k, v * 2) for k, v in d.items())


@program(defaultdict(float, k=1.5, m=np.arange(1.0, 3.0)))
def a_defaultdict(d):
    return d["k"] * d["m"] + 0.0


@program({"layers": [(np.eye(2), np.ones(2)), (np.ones((2, 2)), np.zeros(2))]}, np.array([0.3, 0.6]))
def lists_of_tuples(params, x):
    for w, b in params["layers"]:
        x = np.array([math.tanh(v) for v in w @ x + b])
    return x


@program([1.0, [2.0, np.array([3.0, 4.0])], (5.0,)])
def nested_lists(tree):
    a, (b, c), (d,) = tree
    return np.array([a * b, c[0] * c[1], d**2])


@program((LINEAR, Kernel(0.5, 0.2)), X)
def several_objects(parts, X):
    model, kernel = parts
    return model.predict(X) / kernel.length + kernel.noise


@program(Kernel(0.7, 0.1, "other"))
def a_choice_by_a_setting(kernel):
    return kernel.length**2 if kernel.kind == "rbf" else kernel.length * kernel.noise


@program(Pendulum(length=1.0, damping=0.0, steps=2))
def an_object_made_inside(p):
    states = [State(0.1 * k, p.length) for k in range(p.steps)]
    return np.array([s.energy() for s in states])


@program(LINEAR)
def an_object_changed_inside(model):
    local = Linear(model.w.copy(), model.b)
    local.w[0] = model.b
    local.b += 1.0
    return local.predict(np.eye(2))


@program({"x": {"deep": [Linear(np.ones(2), 1.0)]}})
def objects_in_containers(tree):
    return tree["x"]["deep"][0].size * tree["x"]["deep"][0].b


@program(Particle(np.array([0.5, 1.5])), also=[(Particle(np.array([2.0, 0.5]), 2.0),)])
def called_again_with_another(p):
    return p.mass * np.array([p.at[0] * p.at[1], math.sqrt(p.mass)])
