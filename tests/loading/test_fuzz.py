"""A few thousand mutated and random documents; ``tools/fuzz_load.py`` runs many more."""

import importlib
import json
import sys
import tracemalloc
from pathlib import Path

import jsonschema
import pytest

from symgrad.codec.document import schema

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    pytest.importorskip("scipy")
    found = importlib.import_module("fuzz_documents"), importlib.import_module("fuzz_load")
    yield found
    for name in ("fuzz_documents", "fuzz_load"):
        sys.modules.pop(name, None)


def test_documents_give_an_error_or_a_program(tools):
    documents, load = tools
    audit = load.Audit()
    kinds = set()
    tracemalloc.start()
    try:
        for way, content in documents.made_documents(documents.documents(), 2_000, seed=20):
            outcome = load.Outcome(content, audit)
            assert not outcome.problem, (way, outcome.problem, content[:2000])
            assert way != "valid" or outcome.kind == "a function"
            kinds.add(outcome.kind)
    finally:
        tracemalloc.stop()
    assert kinds >= {"LoadError", "a function"}


def test_what_is_read_is_of_the_schema(tools):
    documents, load = tools
    audit = load.Audit()
    validator = jsonschema.Draft202012Validator(schema())
    read = 0
    for _, content in documents.made_documents(documents.documents(), 800, seed=21):
        if load.Outcome(content, audit).kind == "a function":
            validator.validate(json.loads(content))
            read += 1
    assert read > 30


def test_what_is_forbidden_is_noticed(tools):
    _, load = tools
    audit = load.Audit()
    audit.active = True
    try:
        eval("1 + 1")
    finally:
        audit.active = False
    assert audit.seen
