"""What holds for any text. `make fuzz` runs these at length (--hypothesis-profile=thorough)."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from caffe_guard.config import Settings
from caffe_guard.engine import lint
from caffe_guard.fixing import FixError, apply_edits, fix
from caffe_guard.prototxt import lexer, parse, tree
from caffe_guard.prototxt.edit import insert_after, insert_into, remove
from caffe_guard.schema.bind import bind
from caffe_guard.schema.dialects import schema_for
from caffe_guard.source import Source
from tests.prototxt.texts import any_text, well_formed


@given(any_text)
def test_tokens_joined_are_the_text(text):
    assert "".join(text[token.start : token.end] for token in lexer.tokens(text)) == text
    assert all(token.end > token.start for token in lexer.tokens(text))


@given(any_text)
def test_printing_a_parsed_text_gives_the_text(text):
    assert parse(text).print() == text


@given(any_text)
def test_spans_nest_and_follow_each_other(text):
    file = parse(text)
    stack = [(file.fields, 0, len(text))]
    while stack:
        fields, low, high = stack.pop()
        position = low
        for field in fields:
            assert (
                low <= field.name_start <= field.name_end <= field.start <= field.end <= high or field.children is None
            )
            assert field.start >= position and field.end <= high
            position = field.end
            if field.children is not None and field.kind is not tree.LIST:
                stack.append((field.children, field.start, field.end))
    for problem in file.problems:
        assert 0 <= problem.start <= problem.end <= len(text)


@given(well_formed)
def test_a_well_formed_text_has_no_problem(text):
    assert parse(text).problems == []


@given(st.binary(max_size=200))
def test_any_bytes_come_back_as_they_were(data):
    source = Source.from_bytes("x", data)
    assert source.encode() == data
    assert parse(source.text).print() == source.text


@given(any_text)
def test_binding_and_linting_any_text_never_fails(text):
    file = parse(text)
    for name in ("NetParameter", "SolverParameter"):
        bind(file, name, schema_for("bvlc"))
    result = lint(["a.prototxt"], Settings(), {"a.prototxt": text})
    assert [one.finding.message for one in result.diagnostics if one.code == "CG000"] == []
    for one in result.diagnostics:
        assert 0 <= one.finding.start <= one.finding.end <= len(one.source.text)


@given(any_text)
@example('type""A""\n""')
def test_fixing_any_text_comes_to_rest_without_new_syntax_problems(text):
    def judge(overlay):
        return lint(["a.prototxt"], Settings(), {"a.prototxt": text, **overlay})

    try:
        fixed = fix(judge({}), judge, unsafe=True)
    except FixError as error:
        raise AssertionError(f"{error}: {text!r}") from error
    after = fixed.texts.get("a.prototxt", text)
    assert len(parse(after).problems) <= len(parse(text).problems)
    assert fix(judge({"a.prototxt": after}), judge, unsafe=True).texts == {}


@given(well_formed, st.integers(0, 1000), st.sampled_from(["after", "into", "remove"]))
def test_an_edit_of_a_well_formed_text_leaves_a_well_formed_text(text, which, what):
    fields = [field for field in parse(text).walk() if field.kind is not tree.LIST]
    if not fields:
        return
    field = fields[which % len(fields)]
    if what == "after" and not _in_list(text, field):
        edit = insert_after(text, field.name_start, field.end, "new: 1")
    elif what == "into" and field.kind is tree.MESSAGE:
        edit = insert_into(text, field.start, field.end, "new: 1")
    elif what == "remove" and not _in_list(text, field):
        edit = remove(text, field.name_start, field.end)
    else:
        return
    after = apply_edits(text, [edit])
    assert parse(after).problems == [], after
    names = [one.name for one in parse(after).walk()]
    assert names.count("new") == (0 if what == "remove" else 1)


def _in_list(text, field) -> bool:
    """Items of a list carry the list's name: they are no statements of their own."""
    return not text.startswith(field.name, field.name_start) or any(
        other.kind is tree.LIST and other.start <= field.start < other.end for other in parse(text).walk()
    )
