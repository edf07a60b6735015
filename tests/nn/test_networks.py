"""Networks as users of MindSpore write them: gradients of a training step by differences, and a loss that falls."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import Tensor, nn, ops

RNG = np.random.default_rng(0)


def check_step(net, loss, *inputs, rtol=2e-3):
    """The gradient by every weight along a direction, in float64."""
    weights = net.trainable_params()
    gradients = ms.grad(loss, None, weights)(*inputs)
    assert len(gradients) == len(weights)
    for parameter, gradient in zip(weights, gradients, strict=True):
        direction = RNG.normal(size=parameter.shape)
        before = parameter.asnumpy().copy()
        values = []
        for sign in (1, -1):
            parameter.set_data(before + sign * 1e-6 * direction)
            values.append(float(loss(*inputs)))
        parameter.set_data(before)
        slope = (values[0] - values[1]) / 2e-6
        np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=rtol, atol=1e-7, err_msg=parameter.name)


def in_float64(net):
    """The same network with weights of float64, which differences need."""
    for _, cell in net.cells_and_names():
        for name, value in list(vars(cell).items()):
            if isinstance(value, ms.Parameter):
                wide = ms.Parameter(value.asnumpy().astype(np.float64), value.name, value.requires_grad)
                object.__setattr__(cell, name, wide)
    return net


def falls(net, loss, optimizer, *inputs, steps=8):
    """The loss after some steps is lower than before."""
    step = ms.value_and_grad(loss, None, net.trainable_params())
    values = []
    for _ in range(steps):
        value, gradients = step(*inputs)
        optimizer(gradients)
        values.append(float(value))
    assert values[-1] < 0.9 * values[0], values


class LeNet5(nn.Cell):
    def __init__(self, num_class=10, num_channel=1):
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_class)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


def test_lenet():
    np.random.seed(0)
    net = LeNet5()
    loss_fn = nn.CrossEntropyLoss()
    x, y = Tensor(RNG.normal(size=(4, 1, 32, 32)).astype(np.float32)), Tensor(np.array([1, 5, 0, 9]))
    falls(net, lambda x, y: loss_fn(net(x), y), nn.Momentum(net.trainable_params(), 0.05, 0.9), x, y)
    check_step(in_float64(net), lambda x, y: loss_fn(net(x), y), np.asarray(x, np.float64), np.asarray(y))


class ResidualBlock(nn.Cell):
    def __init__(self, in_channel, out_channel, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channel, out_channel, 3, stride=stride, pad_mode="pad", padding=1)
        self.norm1 = nn.BatchNorm2d(out_channel)
        self.conv2 = nn.Conv2d(out_channel, out_channel, 3, pad_mode="pad", padding=1)
        self.norm2 = nn.BatchNorm2d(out_channel)
        self.relu = nn.ReLU()
        self.down_sample = None
        if stride != 1 or in_channel != out_channel:
            self.down_sample = nn.SequentialCell(
                nn.Conv2d(in_channel, out_channel, 1, stride=stride), nn.BatchNorm2d(out_channel)
            )

    def construct(self, x):
        identity = x if self.down_sample is None else self.down_sample(x)
        out = self.relu(self.norm1(self.conv1(x)))
        return self.relu(self.norm2(self.conv2(out)) + identity)


class ResNet(nn.Cell):
    def __init__(self, num_classes):
        super().__init__()
        self.stem = nn.SequentialCell(
            nn.Conv2d(3, 4, 7, stride=2, pad_mode="pad", padding=3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, pad_mode="same"),
        )
        self.blocks = nn.SequentialCell(ResidualBlock(4, 4), ResidualBlock(4, 6, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Dense(6, num_classes)

    def construct(self, x):
        return self.fc(ops.flatten(self.pool(self.blocks(self.stem(x)))))


@pytest.mark.parametrize("training", [True, False])
def test_resnet(training):
    np.random.seed(0)
    net = in_float64(ResNet(3)).set_train(training)
    x, y = RNG.normal(size=(4, 3, 18, 18)), np.array([0, 2, 1, 2])

    def loss(x, y):
        return ops.cross_entropy(net(x), y)

    check_step(net, loss, x, y, rtol=1e-2)
    if training:
        assert np.any(net.blocks[1].norm2.moving_mean.asnumpy())
        falls(net, loss, nn.SGD(net.trainable_params(), 0.5), x, y)


def test_a_transformer_predicts_the_next_word():
    np.random.seed(0)

    class Model(nn.Cell):
        def __init__(self, words, size):
            super().__init__()
            self.embedding = nn.Embedding(words, size)
            self.position = ms.Parameter(RNG.normal(size=(7, 1, size)).astype(np.float32) * 0.1)
            self.block = nn.TransformerEncoderLayer(size, 2, 16, dropout=0.0, activation="gelu")
            self.head = nn.Dense(size, words)

        def construct(self, tokens):
            mask = np.triu(np.ones((7, 7), bool), 1)
            return self.head(self.block(self.embedding(tokens) + self.position, mask))

    net = Model(11, 8)
    tokens = RNG.integers(0, 11, (8, 3))

    def loss(tokens):
        return ops.cross_entropy(np.reshape(net(tokens[:-1]), (-1, 11)), np.reshape(tokens[1:], -1))

    falls(net, loss, nn.Adam(net.trainable_params(), 0.02), tokens)
    check_step(in_float64(net), loss, tokens)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_recurrent_language_model(kind):
    np.random.seed(0)

    class Model(nn.Cell):
        def __init__(self, words, size):
            super().__init__()
            self.embedding = nn.Embedding(words, size, embedding_table="normal")
            self.rnn = getattr(nn, kind)(size, 6, num_layers=2, batch_first=True)
            self.head = nn.Dense(6, words)

        def construct(self, tokens):
            y, _ = self.rnn(self.embedding(tokens))
            return self.head(y)

    net = Model(9, 5)
    tokens = RNG.integers(0, 9, (3, 8))

    def loss(tokens):
        return ops.cross_entropy(np.swapaxes(net(tokens[:, :-1]), 1, 2), tokens[:, 1:])

    falls(net, loss, nn.Adam(net.trainable_params(), 0.1), tokens)
    check_step(in_float64(net), loss, tokens)


def test_a_variational_autoencoder():
    np.random.seed(0)

    class VAE(nn.Cell):
        def __init__(self):
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Conv2d(1, 4, 3, stride=2), nn.ELU(), nn.Flatten(), nn.Dense(64, 6))
            self.fc = nn.Dense(3, 64)
            self.decoder = nn.SequentialCell(nn.ELU(), nn.Conv2dTranspose(4, 1, 3, stride=2, has_bias=True))

        def construct(self, x, noise):
            mean, log_var = np.split(self.encoder(x), 2, axis=1)
            z = mean + np.exp(0.5 * log_var) * noise  # the draw is an argument, so that the path is differentiable
            return self.decoder(np.reshape(self.fc(z), (-1, 4, 4, 4))), mean, log_var

    net = VAE()
    x = (RNG.uniform(size=(5, 1, 8, 8)) > 0.7).astype(np.float64)
    noise = RNG.normal(size=(5, 3))

    def loss(x, noise):
        logits, mean, log_var = net(x, noise)
        rebuilt = ops.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        divergence = -0.5 * np.sum(1 + log_var - np.square(mean) - np.exp(log_var))
        return (rebuilt + divergence) / 5

    falls(net, loss, nn.Adam(net.trainable_params(), 0.02), x, noise, steps=15)
    check_step(in_float64(net), loss, x, noise)


def test_dropout_by_a_seed_in_a_network():
    net = in_float64(
        nn.SequentialCell(nn.Conv1d(2, 3, 3, has_bias=True), nn.GELU(), nn.AdaptiveAvgPool1d(2), nn.Flatten())
    )
    x = RNG.normal(size=(4, 2, 9))
    check_step(net, lambda x: np.mean(np.square(ops.dropout(net(x), 0.5, seed=7))), x)
