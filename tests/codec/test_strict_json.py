"""Strict JSON: what Python's reader lets through and this one does not, and bounds on everything."""

import pytest

from symgrad.codec.limits import MAX_BYTES
from symgrad.codec.strict_json import parsed
from symgrad.errors import LoadError


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[1] 2", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"[1,]", "not JSON"),
        (b"// no\n1", "not JSON"),
        (b"\xef\xbb\xbf1", "not JSON"),
        (b'["\x00"]', "not JSON"),
        (b"[01]", "not JSON"),
        (b"[NaN]", "NaN is no number"),
        (b"[-Infinity]", "-Infinity is no number"),
        (b"[1e999]", "beyond all floats"),
        (b"[-1e999]", "beyond all floats"),
        (b'{"a": 1, "b": 2, "a": 3}', "'a' stands twice"),
        (b"\xff\xfe", "not UTF-8"),
        (b'"\xc3\x28"', "not UTF-8"),
        (b"1" * 401, "401 digits"),
        (b"0." + b"1" * 400, "402 digits"),
        (b"[" * 41 + b"]" * 41, "nests lists and objects more than 40 deep"),
        (b"[" * 1_000_000, "nests lists and objects more than 40 deep"),
        (b'{"a":' * 100_000, "nests lists and objects more than 40 deep"),
        (b"[" + b"1," * 4_000_001 + b"1]", "more than 4000000 values"),
        (b" " * (MAX_BYTES + 1), f"larger than {MAX_BYTES} bytes"),
    ],
)
def test_what_is_not_strict_json_is_refused(content, message):
    with pytest.raises(LoadError, match=message):
        parsed(content)


def test_a_key_that_stands_twice_is_found_in_a_long_object():
    content = b"{" + b",".join(b'"%d":1' % k for k in range(200_000)) + b',"7":1}'
    with pytest.raises(LoadError, match="'7' stands twice"):
        parsed(content)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'[1, -2.5e3, true, null, "a\\u00e9"]', [1, -2500.0, True, None, "aé"]),
        (b'{"a": "[[[[{{{{"}', {"a": "[[[[{{{{"}),
        (b'"\\"[[["', '"[[['),
        (b"[" * 40 + b"]" * 40, None),
        (b"-0.0", -0.0),
        (str(2**64).encode(), 2**64),
    ],
)
def test_what_is_json_is_read(content, value):
    assert value is None or parsed(content) == value


@pytest.mark.parametrize("content", [b'"' + b"a" * 30_000_000, b'"' + b"\\" * 10_000_001, b'"' * 3_000_001, b'"\\'])
def test_texts_without_an_end_are_refused_in_time(content):
    with pytest.raises(LoadError, match="not JSON"):
        parsed(content)
