"""Texts that Caffe's own reader takes or refuses: caffe-guard does the same, and reads the same values.

CAFFE_GUARD_RANDOM_TEXTS sets how many mutated texts are tried (150 unless it says otherwise).
"""

from __future__ import annotations

import os
import random
import struct

import pytest

from caffe_guard.prototxt import lexer, parse
from caffe_guard.schema.bind import bind
from caffe_guard.schema.dialects import schema_for
from caffe_guard.schema.message import Message

pytestmark = pytest.mark.caffe
TEXTS = int(os.environ.get("CAFFE_GUARD_RANDOM_TEXTS", "150"))

SOLVER = """\
# a solver
net: "net.prototxt"   test_iter: [10, 20]
base_lr: 0.01; lr_policy: 'inv' gamma: 1e-4, power: .75
momentum: 9e-1 weight_decay: 5.e-4
max_iter: 0x10 display: 010
solver_mode: CPU snapshot_prefix: "a" "b" 'c'
debug_info: True iter_size: 1
test_state: { phase: TEST stage: "x\\ty\\101\\x41" level: -3 }
random_seed: -1 regularization_type: "L1"
"""
NET = """\
name: 'net'
layer { name: "data" type: "Input" top: "data" input_param: < shape { dim: 1 dim: [2, 3] } > }
layer {
  name: "conv"  type: "Convolution"
  bottom: "data" top: "conv"
  param { lr_mult: 1.5f } param { lr_mult: 0 decay_mult: -0.0 }
  convolution_param {
    num_output: 4; kernel_size: 3, kernel_size: 1
    weight_filler { type: "gaussian" std: inf mean: nan }
    engine: CAFFE bias_term: f
  }
  include { phase: TRAIN } loss_weight: 1 loss_weight: -2
}
layer < name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { pool: 1 global_pooling: t } >
state { phase: TEST level: 2 }
"""
BASES = (("SolverParameter", SOLVER), ("NetParameter", NET))
# Each of these alone shows how one thing is read.
PIECES = (
    "base_lr: {}",
    "max_iter: {}",
    "random_seed: {}",
    "net: {}",
    "debug_info: {}",
    "solver_mode: {}",
    "test_iter: {}",
    "test_state: {}",
    "test_state {}",
    "stepvalue {}",
    "base_lr {}",
)
VALUES = (
    "1", "-1", "+1", "- 1", "1.0", "1.", ".5", "1e3", "1E+3", "1.5f", "1F", "1e3f", "0x10", "-0x10", "010", "08", "0x", "1x",
    "1e", "1.2.3", "inf", "-inf", "- inf", "Infinity", "NaN", "-nan", "infinit", "true", "True", "TRUE", "t", "f", "F", "T",
    "false", "False", "2", "CPU", "GPU", "cpu", '"CPU"', "0", "7", "-", "--1", '"x"', "'x'", '"x" "y"', "'x'\"y\"", '"x\'', '"x\\"',
    '"\\q"', '"\\x"', '"\\8"', '"\\400"', '"\\u0041"', '"\\U00000041"', '"\\\n"', '"a#b"', "\"it's\"", '""', "[]", "[1]", "[1, 2]",
    "[1 2]", "[1,]", "[,1]", "[true]", "[{}]", "{}", "<>", "{ phase: TEST }", "< phase: TEST >", "{ phase: TEST >",
    "{ phase: TEST; }", "{ phase: TEST, level: 1 }", "{ ; }", "{ phase TEST }", "2147483647", "2147483648", "-2147483648",
    "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e39", "-1e39",
    "1e400", "3.5e38", "1e-50", '"\u00fc"', '"\udce9"', '"\x01"', '"\t"', "1 2", "1;", "1,", "1;;", "1,;", "# c", "1 # c", "1 // c", "1 /* c */",
    "010.5", "00.5", "010f", "00", "0.5", "0f", "0e1", "-010", "01e2", "0.", "007", "019", "[[1]]", "[1] [2]", "[\"a\" \"b\"]", "[{}, {}]",
    "[<>]", "{ phase: [TEST] }", "{ stage: [\"a\", 'b'] }", "{ level: 1 level: 2 }", "{ phase: 1 }", "{ phase: 5 }", "{ phase: -1 }",
    "{ phase: 0x1 }", "{ phase: 1.0 }", "{ phase: \"TEST\" }", "{ [a.b]: 1 }", "01", "0x1", "0x0", "0x2", "-0", "0x", "0X01", "1 # :", "{ [a.b/c] { } }",
    "\u00fc", "\0", "1\0", '"\0"', "",
)  # fmt: skip
FAULTS = (
    "}",
    "{",
    ">",
    "<",
    "[",
    "]",
    ":",
    ";",
    ",",
    '"',
    "'",
    "-",
    "1x",
    "#",
    "\n",
    "foo: 1",
    "//",
    "\ufeff",
    "\\",
    "0",
    "e",
    "ü",
    "\udce9",
)


def _ours(kind: str, text: str):
    """The bound message, or None when caffe-guard says that Caffe refuses the text."""
    tree = parse(text)
    bound = bind(tree, kind, schema_for("bvlc"))
    return None if tree.problems or bound.problems else bound.message


def _plain(message: Message):
    """A message as plain data, floats as the bits of a float32."""
    out = {}
    for name, values in message.fields.items():
        field = message.type.fields[name]
        items = []
        for value in values:
            one = value.value
            if isinstance(one, Message):
                one = _plain(one)
            elif field.kind in ("float", "double"):
                one = "nan" if one != one else _float32(one)
            items.append(one)
        out[name] = items
    return out


def _float32(number: float):
    try:
        return struct.pack("<f", number)
    except OverflowError:
        return struct.pack("<f", float("inf") if number > 0 else float("-inf"))


def _disagreement(judge, kind: str, text: str):
    """What is different, or None."""
    ours = _ours(kind, text)
    verdict = judge.parse(text, kind=kind)
    assert verdict.reader == "caffe"
    if (verdict.result == "parses") != (ours is not None):
        tree = parse(text)
        said = [problem.message for problem in tree.problems]
        said += [problem.message for problem in bind(tree, kind, schema_for("bvlc")).problems]
        return f"{text!r}\n   Caffe {verdict.result} {verdict.problems[:1]}; caffe-guard {said[:2]}"
    if ours is None:
        return None
    theirs = _ours(kind, verdict.text)
    if theirs is None or _plain(theirs) != _plain(ours):
        return f"{text!r}\n   read differently: {verdict.text!r}"
    return None


def test_the_texts_that_the_mutations_start_from_are_read_alike(judge):
    for kind, text in BASES:
        assert _ours(kind, text) is not None
        assert _disagreement(judge, kind, text) is None


@pytest.mark.parametrize("piece", PIECES)
def test_each_way_to_write_a_value_is_taken_or_refused_as_caffe_does(judge, piece):
    wrong = [_disagreement(judge, "SolverParameter", piece.format(value)) for value in VALUES]
    wrong = [one for one in wrong if one is not None]
    assert not wrong, f"{len(wrong)} of {len(VALUES)}:\n" + "\n".join(wrong)


def _mutated(r: random.Random, text: str) -> str:
    for _ in range(r.choice((1, 1, 2))):
        tokens = list(lexer.tokens(text))
        token = r.choice(tokens)
        way = r.randrange(5)
        if way == 0:
            text = text[: token.start] + text[token.end :]
        elif way == 1:
            text = text[: token.start] + r.choice(FAULTS) + text[token.start :]
        elif way == 2:
            text = text[: token.start] + r.choice(VALUES) + text[token.end :]
        elif way == 3:
            text = text[: token.end] + text[token.start : token.end] + text[token.end :]
        else:
            other = r.choice(tokens)
            text = text[: token.start] + text[other.start : other.end] + text[token.end :]
    return text


@pytest.mark.parametrize(("kind", "base"), BASES, ids=["solver", "net"])
def test_mutated_texts_are_taken_or_refused_as_caffe_does(judge, kind, base):
    wrong = []
    for seed in range(TEXTS // 2):
        one = _disagreement(judge, kind, _mutated(random.Random(seed), base))
        if one is not None:
            wrong.append(one)
    assert not wrong, f"{len(wrong)} of {TEXTS // 2}:\n" + "\n".join(wrong[:8])
