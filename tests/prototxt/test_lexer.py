"""Every character belongs to exactly one token, of the kind that protobuf's tokenizer gives it."""

from __future__ import annotations

import pytest

from caffe_guard.prototxt import lexer


def _kinds(text: str) -> list:
    return [(token.kind, text[token.start : token.end]) for token in lexer.tokens(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("lr_policy", lexer.NAME),
        ("_x9", lexer.NAME),
        ("0", lexer.NUMBER),
        ("017", lexer.NUMBER),
        ("0x1F", lexer.NUMBER),
        ("1.", lexer.NUMBER),
        (".5", lexer.NUMBER),
        ("1.5f", lexer.NUMBER),
        ("1e-3F", lexer.NUMBER),
        ("1E+5", lexer.NUMBER),
        ("08", lexer.BAD_NUMBER),
        ("010.5", lexer.BAD_NUMBER),
        ("1x", lexer.BAD_NUMBER),
        ("0x", lexer.BAD_NUMBER),
        ("1.2.3", lexer.BAD_NUMBER),
        ("1e", lexer.BAD_NUMBER),
        ('"a b"', lexer.STRING),
        ("'it\\'s'", lexer.STRING),
        ('"#no comment"', lexer.STRING),
        ('"never closed', lexer.BAD_STRING),
        ("# to the end of the line", lexer.COMMENT),
        ("#", lexer.COMMENT),
        (" \t\r\n\v\f", lexer.WHITESPACE),
        ("{", lexer.PUNCTUATION),
        ("<", lexer.PUNCTUATION),
        ("-", lexer.PUNCTUATION),
        ("<<<<<<< HEAD", lexer.CONFLICT_MARKER),
        ("=======", lexer.CONFLICT_MARKER),
        (">>>>>>> theirs", lexer.CONFLICT_MARKER),
        ("||||||| base", lexer.CONFLICT_MARKER),
        ("äö", lexer.OTHER),
        ("\0", lexer.OTHER),
        ("\udce9", lexer.OTHER),
        ("// not a comment here", lexer.OTHER),
    ],
)
def test_a_token_alone_is_one_token_of_its_kind(text, kind):
    assert _kinds(text) == [(kind, text)]


def test_a_string_ends_at_its_line_and_the_next_line_is_read():
    assert _kinds('"open\nnext') == [
        (lexer.BAD_STRING, '"open'),
        (lexer.WHITESPACE, "\n"),
        (lexer.NAME, "next"),
    ]


def test_an_escaped_line_break_does_not_continue_a_string():
    assert _kinds('"a\\\nb"')[0][0] == lexer.BAD_STRING


def test_conflict_markers_count_only_at_the_start_of_a_line():
    assert lexer.CONFLICT_MARKER not in [kind for kind, _ in _kinds("a: <<<<<<< b")]
    assert lexer.CONFLICT_MARKER not in [kind for kind, _ in _kinds("<<<<<<<<")]


def test_the_end_has_a_token_of_its_own():
    token = lexer.token_at("ab", 2)
    assert (token.kind, token.start, token.end) == (lexer.END, 2, 2)


def test_comments_are_found_and_strings_are_not_searched():
    text = 'a: "# one" # two\n# three'
    assert [text[token.start : token.end] for token in lexer.comments(text)] == ["# two", "# three"]
