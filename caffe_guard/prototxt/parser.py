"""Text to tree, for any text at all: never fails, never recurses, linear time.

A well-formed statement is read by one pattern; everything else (lists, adjacent strings, comments in odd places,
errors) goes through the token-wise path, which reports one problem a fault and resumes at the next statement.

A missing or surplus brace shows only at the end of the file, far from the fault. When the braces do not balance, the
text is read a second time with its indentation as the witness of what the author meant.
"""

from __future__ import annotations

import re

from caffe_guard.prototxt import lexer, tree
from caffe_guard.prototxt.lexer import BLANK, NAME_PATTERN, NUMBER_PATTERN, STRING_PATTERN, TRIVIA
from caffe_guard.prototxt.tree import Field, File, SyntaxProblem
from caffe_guard.source import BYTE_ORDER_MARK

_STATEMENT = re.compile(
    rf"""{TRIVIA}
    (?:({NAME_PATTERN}){BLANK}*
        (?::{BLANK}*(?:
            ({STRING_PATTERN})(?!{BLANK}*["'\#])
            |(-?{NUMBER_PATTERN})
            |({NAME_PATTERN})(?![A-Za-z0-9_]|{BLANK}*[:{{<\#])
            )
        |(?::{BLANK}*)?([{{<])
        )
    |([}}]|>(?!>{{6}})))""",
    re.VERBOSE,
)
_CLOSERS = {"{": "}", "<": ">", "[": "]"}
# Compiled on first use: conflicts are rare.
_CONFLICT_END = r"(?m)^>{7}(?:[ \t][^\n]*|(?=[\r\n])|\Z)"
_CONFLICT_SPLIT = r"(?m)^={7}(?:[ \t][^\n]*|(?=[\r\n])|\Z)"
# A word of the text is quoted in messages up to this length.
_MOST_QUOTED = 40
# How far up an unindented text is searched for a message of the same name; Caffe's messages nest five deep.
_MOST_LEVELS = 8


def parse(text: str) -> File:
    """The tree of a text. ``parse(text).print() == text`` always holds."""
    parser = _Parser(text)
    parser.run()
    if parser.unclosed or parser.surplus:
        guided = _Parser(text, missing=parser.unclosed, surplus=parser.surplus)
        guided.run()
        if not guided.unclosed and not guided.surplus:
            parser = guided
    parser.problems.sort(key=lambda problem: problem.start)
    return File(text, parser.root, parser.problems)


class _Open:
    """A message or list that is not closed yet."""

    __slots__ = ("field", "indent", "line_start", "nested")

    def __init__(self, field: Field, line_start: int, indent: int) -> None:
        self.field = field
        self.line_start = line_start
        self.indent = indent
        # Whether its first child on a line of its own stands further right; None before there is one.
        self.nested: bool | None = None


class _Parser:
    """One pass over the text. ``missing`` and ``surplus`` are how many braces indentation may correct."""

    def __init__(self, text: str, missing: int = 0, surplus: int = 0) -> None:
        self.text = text
        self.root: list[Field] = []
        self.problems: list[SyntaxProblem] = []
        self.unclosed = 0
        self.surplus = 0
        self._may_close = missing
        self._may_drop = surplus
        self._guided = bool(missing or surplus)
        self._stack: list[_Open] = []
        self._siblings = self.root
        self._separator_allowed = False
        self._conflict: int | None = None
        # Patterns of conflict markers that were searched for in vain: they do not come any more.
        self._absent: set[str] = set()

    # -- the fast path ------------------------------------------------------------------------------------------

    def run(self) -> None:
        text = self.text
        match = _STATEMENT.match
        kinds = (None, None, tree.STRING, tree.NUMBER, tree.NAME)
        position = 0
        if text.startswith(BYTE_ORDER_MARK):
            position = 1
            self._problem(
                tree.BYTE_ORDER_MARK,
                0,
                1,
                "the file begins with a byte order mark, which Caffe's parser refuses",
                help="save the file as UTF-8 without a byte order mark",
                replacement="",
            )
        while True:
            found = None if self._in_list() else match(text, position)
            if found is None:
                position = self._slow_step(position)
                if position < 0:
                    break
                continue
            which = found.lastindex
            if which == 6:
                start = found.start(6)
                position = found.end()
                if not self._guided or self._brace_fits(start):
                    self._close(start)
                continue
            name_start, name_end = found.span(1)
            if self._guided:
                self._close_by_indent(name_start)
            assert which is not None
            start, position = found.span(which)
            if which == 5:
                if self._guided:
                    self._close_namesake(found.group(1), name_start)
                field = Field(found.group(1), name_start, name_end, tree.MESSAGE, start, position, [])
                self._siblings.append(field)
                self._push(field)
            else:
                kind = kinds[which]
                assert kind is not None
                self._siblings.append(Field(found.group(1), name_start, name_end, kind, start, position, None))
                self._separator_allowed = True
        self._finish()

    def _in_list(self) -> bool:
        return bool(self._stack) and self._stack[-1].field.kind is tree.LIST

    # -- opening and closing ------------------------------------------------------------------------------------

    def _push(self, field: Field) -> None:
        if self._guided:
            line_start = self._line_start(field.name_start)
            self._stack.append(_Open(field, line_start, self._indent(line_start)))
        else:
            self._stack.append(_Open(field, 0, 0))
        assert field.children is not None
        self._siblings = field.children
        self._separator_allowed = False

    def _pop(self, end: int) -> None:
        opened = self._stack.pop()
        opened.field.end = end
        if self._stack:
            children = self._stack[-1].field.children
            assert children is not None
            self._siblings = children
        else:
            self._siblings = self.root
        self._separator_allowed = True

    def _close(self, start: int) -> None:
        """A closing brace or angle bracket at ``start``."""
        closer = self.text[start]
        if not self._stack:
            self.surplus += 1
            self._problem(
                tree.UNBALANCED,
                start,
                start + 1,
                f"'{closer}' closes nothing: there is one '{closer}' too many in the text before it",
                help=f"remove it, or the surplus '{closer}' further up",
            )
            return
        field = self._stack[-1].field
        opener = self._opener(field)
        if _CLOSERS[opener] != closer:
            self._problem(
                tree.BAD_SYNTAX,
                start,
                start + 1,
                f"'{closer}' cannot close what '{opener}' opened",
                help=f"write '{_CLOSERS[opener]}'",
                related=(f"'{opener}' stands here", field.start, field.start + 1),
                replacement=_CLOSERS[opener],
            )
        self._pop(start + 1)

    def _opener(self, field: Field) -> str:
        """The brace that opened a message or list; a message whose brace is missing counts as one of ``{``."""
        opener = self.text[field.start : field.start + 1]
        return opener if opener in _CLOSERS else "{"

    def _finish(self) -> None:
        """Close what is open at the end of the text."""
        end = self._end_of_last_child()
        while self._stack:
            field = self._stack[-1].field
            self.unclosed += 1
            self._report_unclosed(field, None)
            self._pop(max(end, field.start + 1))

    def _end_of_last_child(self) -> int:
        if self._siblings:
            return self._siblings[-1].end
        return self._stack[-1].field.start + 1 if self._stack else 0

    def _report_unclosed(self, field: Field, next_start: int | None) -> None:
        opener = self._opener(field)
        closer = _CLOSERS[opener]
        what = f'"{field.name}"' if field.name else f"'{opener}'"
        self._problem(
            tree.UNBALANCED,
            field.name_start,
            max(field.name_end, field.start + 1),
            f"{what} is opened here and never closed: a '{closer}' is missing",
            help=f"add the '{closer}'" + (" before what follows" if next_start is not None else ""),
            related=None if next_start is None else ("this begins while it is still open", next_start, next_start + 1),
        )

    # -- indentation as a witness -------------------------------------------------------------------------------

    def _line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def _indent(self, line_start: int) -> int:
        """The column, tabs to the next multiple of eight, at which a line's text begins."""
        column = 0
        for character in self.text[line_start : line_start + 1000]:
            if character == "\t":
                column += 8 - column % 8
            elif character in " \r\v\f":
                column += 1
            else:
                break
        return column

    def _first_on_line(self, offset: int, line_start: int) -> bool:
        return offset - line_start < 1000 and not self.text[line_start:offset].strip()

    def _close_by_indent(self, offset: int) -> None:
        """Before a statement at ``offset``: close messages that its indentation says are over."""
        if not self._stack:
            return
        line_start = self._line_start(offset)
        if not self._first_on_line(offset, line_start):
            return
        indent = self._indent(line_start)
        while self._stack and self._may_close:
            top = self._stack[-1]
            if top.line_start == line_start:
                return
            if top.nested is None:
                # Judge by the first child: in a file without indentation there is nothing to go by.
                top.nested = indent > top.indent
                if not top.nested and not self._text_is_indented(top):
                    return
            elif not top.nested:
                return
            if indent > top.indent:
                return
            self._may_close -= 1
            self._report_unclosed(top.field, offset)
            self._pop(max(self._end_of_last_child(), top.field.start + 1))
        if self._stack and self._stack[-1].nested is None and self._stack[-1].line_start != line_start:
            self._stack[-1].nested = indent > self._stack[-1].indent

    def _close_namesake(self, name: str, offset: int) -> None:
        """Before a message at ``offset``: close the open message of the same name, if braces are missing.

        Messages of one kind follow each other far more often than they nest; this is for text without indentation.
        """
        closing = 1
        for opened in self._stack[: -_MOST_LEVELS - 1 : -1]:
            if opened.field.name == name:
                break
            closing += 1
        else:
            return
        if closing > self._may_close:
            return
        for _ in range(closing):
            self._may_close -= 1
            self._report_unclosed(self._stack[-1].field, offset)
            self._pop(max(self._end_of_last_child(), self._stack[-1].field.start + 1))

    def _text_is_indented(self, top: _Open) -> bool:
        """Whether an enclosing message has indented children: then an unindented first child is no child at all."""
        return any(opened.nested for opened in self._stack if opened is not top)

    def _brace_fits(self, offset: int) -> bool:
        """Before a closing brace: close what its indentation says is over; False when the brace itself is surplus."""
        line_start = self._line_start(offset)
        if not self._stack or not self._first_on_line(offset, line_start):
            return True
        indent = self._indent(line_start)
        top = self._stack[-1]
        if self._may_drop and top.nested and top.line_start != line_start and indent > top.indent:
            self._may_drop -= 1
            self._problem(
                tree.UNBALANCED,
                offset,
                offset + 1,
                f"'{self.text[offset]}' closes nothing: by its indentation it is one too many",
                help="remove it",
            )
            return False
        while self._may_close and len(self._stack) > 1 and top.nested is not False and indent < top.indent:
            if top.line_start == line_start:
                break
            self._may_close -= 1
            self._report_unclosed(top.field, offset)
            self._pop(max(self._end_of_last_child(), top.field.start + 1))
            top = self._stack[-1]
        return True

    # -- the token-wise path ------------------------------------------------------------------------------------

    def _slow_step(self, position: int) -> int:
        """Read one statement, item, separator or fault at ``position``; the new position, or -1 at the end."""
        token = lexer.significant_token_at(self.text, position)
        if token.kind is lexer.END:
            return -1
        if token.kind is lexer.CONFLICT_MARKER:
            return self._conflict_marker(token)
        if self._in_list():
            return self._list_step(token)
        character = self.text[token.start]
        if token.kind is lexer.NAME:
            if self._guided:
                self._close_by_indent(token.start)
            return self._statement(self._word(token), token.start, token.end)
        if token.kind is lexer.PUNCTUATION:
            if character in "}>":
                if not self._guided or self._brace_fits(token.start):
                    self._close(token.start)
                return token.end
            if character in ";,":
                if not self._separator_allowed:
                    self._unexpected(token, token.end)
                self._separator_allowed = False
                return token.end
            if character == "[":
                return self._extension(token)
            if character in "{<":
                self._problem(
                    tree.BAD_SYNTAX,
                    token.start,
                    token.end,
                    f"'{character}' stands without the name of a field before it",
                )
                field = Field("", token.start, token.start, tree.MESSAGE, token.start, token.end, [])
                self._siblings.append(field)
                self._push(field)
                return token.end
        return self._skip_junk(token)

    def _statement(self, name: str, name_start: int, name_end: int) -> int:
        """A field whose name has been read: its colon, if any, and its value."""
        token = lexer.significant_token_at(self.text, name_end)
        colon = self.text.startswith(":", token.start)
        wrong_colon = not colon and self.text.startswith("=", token.start)
        if wrong_colon:
            self._problem(
                tree.BAD_SYNTAX,
                token.start,
                token.end,
                f"'=' after \"{name}\": a field and its value are separated by a colon",
                help="write ':'",
                replacement=":",
            )
        if colon or wrong_colon:
            token = lexer.significant_token_at(self.text, token.start + 1)
        character = self.text[token.start : token.start + 1]
        if token.kind is lexer.PUNCTUATION and character in "{<":
            field = Field(name, name_start, name_end, tree.MESSAGE, token.start, token.end, [])
            self._siblings.append(field)
            self._push(field)
            return token.end
        if (
            token.kind is lexer.PUNCTUATION
            and character == "["
            and (colon or wrong_colon or self._list_of_messages(token))
        ):
            field = Field(name, name_start, name_end, tree.LIST, token.start, token.end, [])
            self._siblings.append(field)
            self._push(field)
            return token.end
        if colon or wrong_colon:
            return self._scalar_statement(name, name_start, name_end, token)
        if token.kind in (lexer.STRING, lexer.NUMBER, lexer.BAD_STRING) and self._same_line(name_end, token.start):
            self._problem(
                tree.BAD_SYNTAX,
                name_start,
                name_end,
                f'a colon is missing between "{name}" and its value',
                help=f"write {name}:",
                replacement=f"{name}:",
            )
            return self._scalar_statement(name, name_start, name_end, token)
        if token.kind is lexer.NAME and self._begins_a_body(name_start, token):
            self._problem(
                tree.BAD_SYNTAX,
                name_start,
                name_end,
                f"a '{{' is missing after \"{self._shorten(name)}\"",
                help="what follows stands further right, as the fields of a message do",
                replacement=f"{name} {{",
            )
            field = Field(name, name_start, name_end, tree.MESSAGE, name_end, name_end, [])
            self._siblings.append(field)
            self._push(field)
            return name_end
        self._problem(
            tree.BAD_SYNTAX,
            name_start,
            name_end,
            f"\"{self._shorten(name)}\" is followed by neither ':' nor '{{'",
            help="a field is written name: value or name { … }",
        )
        if token.kind is lexer.NAME or token.kind is lexer.END or character in "{}<>[":
            return name_end
        if not self._same_line(name_end, token.start):
            return name_end
        return self._skip_junk(token, quiet=True)

    def _begins_a_body(self, name_start: int, token: lexer.Token) -> bool:
        """Whether a name and, on a later line and further right, the name of a field show that a brace was left out."""
        own_line, line = self._line_start(name_start), self._line_start(token.start)
        if own_line == line or not self._first_on_line(name_start, own_line):
            return False
        if not self._first_on_line(token.start, line) or self._indent(line) <= self._indent(own_line):
            return False
        after = lexer.significant_token_at(self.text, token.end)
        return after.kind is lexer.PUNCTUATION and self.text[after.start] in ":{<"

    def _scalar_statement(self, name: str, name_start: int, name_end: int, token: lexer.Token) -> int:
        if token.kind is lexer.NAME:
            after = lexer.significant_token_at(self.text, token.end)
            if after.kind is lexer.PUNCTUATION and self.text[after.start] in ":{<" and after.start < len(self.text):
                # `num_output:` and, on the next line, `bias_term: false`: the name belongs to what follows.
                if not self._same_line(name_end, token.start) or self.text[after.start] == ":":
                    return self._missing_value(name, name_start, name_end)
        scalar = self._scalar(token)
        if scalar is None:
            return self._missing_value(name, name_start, name_end)
        kind, start, end = scalar
        self._siblings.append(Field(name, name_start, name_end, kind, start, end, None))
        self._separator_allowed = True
        return end

    def _missing_value(self, name: str, name_start: int, name_end: int) -> int:
        self._problem(
            tree.BAD_SYNTAX,
            name_start,
            name_end,
            f'"{self._shorten(name)}" has no value',
            help="write its value, or remove it",
        )
        self._siblings.append(Field(name, name_start, name_end, tree.MISSING, name_end, name_end, None))
        self._separator_allowed = True
        colon = lexer.significant_token_at(self.text, name_end)
        position = colon.start + 1
        token = lexer.significant_token_at(self.text, position)
        if token.kind in (lexer.NAME, lexer.END) or self.text[token.start] in "{}<>[],;":
            return position
        return self._skip_junk(token, quiet=True)

    def _scalar(self, token: lexer.Token) -> tuple[str, int, int] | None:
        """Kind, start and end of a scalar at a token; None when there is none. Bad literals are reported here."""
        text = self.text
        if token.kind is lexer.STRING or token.kind is lexer.BAD_STRING:
            start, end = token.start, token.end
            while token.kind is lexer.STRING or token.kind is lexer.BAD_STRING:
                end = token.end
                if token.kind is lexer.BAD_STRING:
                    self._problem(
                        tree.BAD_SYNTAX,
                        token.start,
                        token.end,
                        "the string is not closed before the end of the line",
                        help=f"add the missing {text[token.start]}",
                    )
                    return tree.MISSING, start, end
                token = lexer.significant_token_at(text, end)
            return tree.STRING, start, end
        if token.kind is lexer.NUMBER:
            return tree.NUMBER, token.start, token.end
        if token.kind is lexer.NAME:
            return tree.NAME, token.start, token.end
        if token.kind is lexer.BAD_NUMBER:
            word = self._word(token)
            octal = word[0] == "0" and word[1:2].isdigit()
            self._problem(
                tree.BAD_SYNTAX,
                token.start,
                token.end,
                f"{self._shorten(word)} is not a number",
                help="a leading 0 makes a number octal: write it without" if octal else None,
            )
            return tree.MISSING, token.start, token.end
        if token.kind is lexer.PUNCTUATION and text[token.start] == "-":
            after = lexer.significant_token_at(text, token.end)
            if after.kind is lexer.NUMBER or (
                after.kind is lexer.NAME and self._word(after).lower() in ("inf", "infinity", "nan")
            ):
                return tree.NUMBER, token.start, after.end
            if after.kind is lexer.BAD_NUMBER or after.kind is lexer.NAME:
                self._problem(
                    tree.BAD_SYNTAX,
                    token.start,
                    after.end,
                    f"{self._shorten(text[token.start : after.end])} is not a number",
                )
                return tree.MISSING, token.start, after.end
        return None

    def _list_of_messages(self, token: lexer.Token) -> bool:
        after = lexer.significant_token_at(self.text, token.end)
        return after.kind is lexer.PUNCTUATION and self.text[after.start] in "{<]"

    def _list_step(self, token: lexer.Token) -> int:
        """One item, comma or the end of the list on top of the stack."""
        field = self._stack[-1].field
        items = field.children
        assert items is not None
        character = self.text[token.start]
        if token.kind is lexer.PUNCTUATION and character == "]":
            if items and not self._separator_allowed:
                self._unexpected(token, token.end)
            self._pop(token.end)
            return token.end
        if token.kind is lexer.PUNCTUATION and character == ",":
            if not self._separator_allowed:
                self._unexpected(token, token.end)
            self._separator_allowed = False
            return token.end
        if items and self._separator_allowed:
            after = lexer.significant_token_at(self.text, token.end)
            if token.kind is lexer.NAME and self.text[after.start : after.start + 1] in (":", "{", "<"):
                return self._end_list_early(field, token)
            if token.kind in (lexer.STRING, lexer.NUMBER, lexer.NAME):
                self._problem(
                    tree.BAD_SYNTAX, token.start, token.end, f'a comma is missing in the list of "{field.name}"'
                )
        if token.kind is lexer.PUNCTUATION and character in "{<":
            item = Field(field.name, field.name_start, field.name_end, tree.MESSAGE, token.start, token.end, [])
            items.append(item)
            self._push(item)
            return token.end
        if token.kind is lexer.PUNCTUATION and character in "}>":
            return self._end_list_early(field, token)
        scalar = self._scalar(token)
        if scalar is None:
            return self._skip_junk(token)
        kind, start, end = scalar
        items.append(Field(field.name, field.name_start, field.name_end, kind, start, end, None))
        self._separator_allowed = True
        return end

    def _end_list_early(self, field: Field, token: lexer.Token) -> int:
        self._problem(
            tree.BAD_SYNTAX,
            field.start,
            field.start + 1,
            f"the list of \"{field.name}\" is not closed: a ']' is missing",
            help="add the ']'",
            related=("the list must end before this", token.start, token.end),
        )
        self._pop(self._end_of_last_child())
        return token.start

    def _extension(self, token: lexer.Token) -> int:
        """An extension's name in brackets, ``[package.field]``, which no Caffe knows; read lest its value be junk."""
        position = token.end
        while True:
            part = lexer.significant_token_at(self.text, position)
            if part.kind is lexer.NAME or (part.kind is lexer.OTHER and self.text[part.start] in "./"):
                position = part.end
                continue
            break
        if position == token.end or not self.text.startswith("]", part.start):
            return self._skip_junk(token)
        return self._statement(self.text[token.start : part.end], token.start, part.end)

    # -- faults -------------------------------------------------------------------------------------------------

    def _conflict_marker(self, token: lexer.Token) -> int:
        """Read the first side of a merge conflict and skip the second."""
        mark = self.text[token.start]
        if mark == "<":
            self._conflict = token.start
            self._problem(
                tree.MERGE_CONFLICT,
                token.start,
                token.end,
                "an unresolved merge conflict begins here; Caffe's parser stops at this line",
                help="keep one of the two sides and remove the lines with <<<<<<<, ======= and >>>>>>>",
            )
            return token.end
        if self._conflict is None:
            self._problem(
                tree.MERGE_CONFLICT,
                token.start,
                token.end,
                f"a line of a merge conflict, {self.text[token.start : token.start + 7]}, is left over here;"
                " Caffe's parser stops at it",
                help="remove the line, and check that what stands around it belongs together",
            )
            return token.end
        if mark == "|":
            split = self._marker_after(_CONFLICT_SPLIT, token.end)
            return split.start() if split else token.end
        if mark == "=":
            end = self._marker_after(_CONFLICT_END, token.end)
            if end is not None:
                self._conflict = None
                return end.end()
        if mark == ">":
            self._conflict = None
        return token.end

    def _marker_after(self, pattern: str, position: int) -> re.Match[str] | None:
        if pattern in self._absent:
            return None
        found = re.compile(pattern).search(self.text, position)
        if found is None:
            self._absent.add(pattern)
        return found

    def _skip_junk(self, token: lexer.Token, quiet: bool = False) -> int:
        """Report the run of unreadable text at ``token`` once, and go on at its line's end or at the next brace."""
        line_end = self.text.find("\n", token.start)
        if line_end < 0:
            line_end = len(self.text)
        position = token.end
        while position < line_end:
            part = lexer.token_at(self.text, position)
            if part.kind is lexer.COMMENT or (part.kind is lexer.PUNCTUATION and self.text[part.start] in "{}"):
                break
            position = part.end
        if not quiet:
            self._unexpected(token, min(position, line_end))
        return position

    def _unexpected(self, token: lexer.Token, end: int) -> None:
        word = self._word(token)
        end = max(token.end, token.start + len(self.text[token.start : end].rstrip()))
        if token.kind is lexer.OTHER and word.startswith("//"):
            self._problem(
                tree.BAD_SYNTAX,
                token.start,
                end,
                "'//' does not begin a comment in this format",
                help="comments begin with '#'",
                replacement="#" + self.text[token.start + 2 : end],
            )
            return
        if token.kind is lexer.OTHER and not word.isascii():
            message = f"the character {word[0]!a} may stand in strings and comments only"
        elif token.kind is lexer.OTHER and not word.isprintable():
            message = f"a control character ({word!a}) stands in the text; Caffe's parser refuses it"
        else:
            message = f"{self._shorten(word)} is not expected here: a field's name should begin"
        self._problem(tree.BAD_SYNTAX, token.start, end, message)

    def _word(self, token: lexer.Token) -> str:
        return self.text[token.start : token.end]

    def _shorten(self, word: str) -> str:
        return word if len(word) <= _MOST_QUOTED else word[: _MOST_QUOTED - 1] + "…"

    def _same_line(self, start: int, end: int) -> bool:
        return "\n" not in self.text[start:end]

    def _problem(
        self,
        kind: str,
        start: int,
        end: int,
        message: str,
        help: str | None = None,
        related: tuple[str, int, int] | None = None,
        replacement: str | None = None,
    ) -> None:
        self.problems.append(SyntaxProblem(kind, start, end, message, help, related, replacement))
