"""Lets through one Cypher query that only reads; all else is refused before anything runs.

The query is read token by token, strings, quoted names and comments apart. A word passes when it is a keyword on the
list of those that read, wherever it stands; or, where an operand may stand, a name, which must be on the list of
functions where a bracket follows. Every clause of Cypher begins with a keyword. A keyword that is not listed stands
either behind an operand, where no name may stand, or in an operand's place, where the next operand, or the bracket
behind it, gives it away. So clauses that databases learn in future are refused as well.

Databases read some spellings differently (escapes ``\\uXXXX`` that close a string, carriage returns that end a
comment, spaces that cannot be seen). Such spellings are refused, so that the database reads what was read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ontology.findings import did_you_mean
from ontoloom.errors import QueryError

MAX_CHARACTERS = 100_000
MAX_DEPTH = 200


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLAUSES = words("match optional with return unwind call")
"""What a query, or a part of it after UNION or in a subquery, may begin with."""

KEYWORDS = CLAUSES | words(
    "where order by asc ascending desc descending skip offset limit union distinct as and or xor not in starts ends "
    "contains is null true false case when then else end exists count collect all any none single shortest acyclic "
    "trail walk simple path paths group groups nan infinity inf"
)
"""Keywords that only read. Some are functions as well."""

OPERAND_KEYWORDS = words("null true false end nan infinity inf asc ascending desc descending")
"""Keywords behind which an operand is complete."""

RESERVED = words(
    "create merge set delete detach nodetach remove foreach insert load copy call yield use finish drop alter attach "
    "export import install uninstall checkpoint explain profile"
)
"""Keywords that do more than read; as names they are written between back quotes."""

FUNCTIONS = words(
    # aggregates
    "count sum avg min max collect stdev stdevp percentilecont percentiledisc count_if "
    # nodes, relationships, paths
    "id elementid properties startnode endnode start_node end_node type labels label keys nodes relationships rels "
    "length shortestpath allshortestpaths is_trail is_acyclic cost degree offset property_exists "
    # any value
    "coalesce ifnull nullif case cast typeof valuetype exists isempty isnan tointeger tofloat toboolean tostring "
    "tointegerornull tofloatornull tobooleanornull tostringornull tointegerlist tofloatlist tobooleanlist tostringlist "
    "to_int64 to_int32 to_double to_float to_bool to_string to_date to_timestamp decimal greatest least hash "
    # lists
    "all any none single head last tail size range reverse reduce list_extract list_element list_concat list_cat "
    "list_append list_prepend list_position list_indexof list_contains list_has list_has_all list_slice list_sort "
    "list_reverse_sort list_sum list_product list_distinct list_unique list_any_value list_reverse list_to_string "
    "list_creation list_transform list_filter list_reduce list_any list_all list_none list_single array_value "
    "map element_at map_extract map_keys map_values cardinality struct_extract "
    # numbers
    "abs ceil ceiling floor round sign sqrt cbrt exp ln log log10 log2 e pi power pow mod rand sin cos tan cot asin "
    "acos atan atan2 degrees radians haversin sinh cosh tanh coth even factorial gamma lgamma negate bitwise_and "
    # texts
    "left right substring substr ltrim rtrim btrim trim lower upper tolower toupper lcase ucase normalize "
    "replace split string_split split_part char_length character_length contains starts_with ends_with prefix suffix "
    "concat concat_ws lpad rpad repeat array_extract initcap levenshtein md5 sha256 regexp_matches regexp_full_match "
    "regexp_replace regexp_extract regexp_extract_all regexp_split_to_array ascii ord chr "
    # times and places
    "date datetime localdatetime localtime time timestamp duration interval date.truncate datetime.truncate "
    "localdatetime.truncate localtime.truncate time.truncate date.realtime duration.between duration.inmonths "
    "duration.indays duration.inseconds datetime.fromepoch datetime.fromepochmillis date_part datepart date_trunc "
    "datetrunc dayname monthname last_day make_date make_timestamp century epoch_ms to_years to_months to_days "
    "to_hours to_minutes to_seconds current_date current_timestamp point point.distance point.withinbbox distance"
)
"""Functions that read, of either database, in lower case. A keyword before a bracket is no function."""

TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n]+|\r\n)
  | (?P<comment>//[^\r\n]*|/\*.*?\*/)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<number>(?:[0-9]\w*(?:\.(?=[0-9])\w+)?|\.[0-9]\w*)(?:(?<=[0-9][eE])[+-][0-9]+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<parameter>\$(?:\w+|`(?:[^`]|``)*`))
  | (?P<sign>(?!/\*)(?:\.\.|<>|<=|>=|=~|::|\|\||[-+*/%^=<>!&|.,;:(){}\[\]$]))
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPE = re.compile(r"\\(?![\\'\"`bfnrtBFNRT])")
UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029]|\r(?!\n)")
Kind = Literal["string", "quoted", "number", "word", "parameter", "sign"]
State = Literal["operand", "operator", "label", "name"]
"""What may come next: an operand; an operator or clause; a label, type or value after a colon; any word as a name."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    start: int

    @property
    def word(self) -> str:
        """A bare word in lower case; empty for all else, and where letters are of other alphabets."""
        return self.text.lower() if self.kind == "word" and self.text.isascii() else ""

    @property
    def reserved(self) -> bool:
        return self.kind == "word" and self.text.casefold() in RESERVED

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs


END = Token("sign", "", 0)
"""What follows the last token."""


def check(query: str) -> None:
    """Raises QueryError, with line and column, where a query might do anything but read."""
    if len(query) > MAX_CHARACTERS:
        raise QueryError(f"the query has {len(query):,} characters; at most {MAX_CHARACTERS:,} are read", code="size")
    tokens = list(tokenize(query))
    while tokens and tokens[-1].is_sign(";"):
        tokens.pop()
    if not tokens:
        raise QueryError("there is no query; write MATCH … RETURN …", code="syntax")
    _check_beginning(query, tokens[0])
    _check_depth(query, tokens)
    state: State = "operand"
    for place in range(len(tokens)):
        state = _step(query, tokens, place, state)
    if not any(token.word == "return" for token in tokens):
        raise QueryError("the query gives nothing back; end it with RETURN", code="syntax")


def tokenize(query: str) -> Iterator[Token]:
    """The tokens of a query without spaces and comments. Raises QueryError at what is none."""
    unseen = UNSEEN.search(query)
    if unseen is not None:
        raise at(query, unseen.start(), "a control character is not allowed", hint="pass such texts as parameters")
    escape = re.search(r"\\u", query, re.IGNORECASE)
    if escape is not None:
        hint = "write the character itself, or pass the text as a parameter"
        raise at(query, escape.start(), r"escapes such as \u0041 are not allowed", hint=hint)
    place = 0
    while place < len(query):
        found = TOKEN.match(query, place)
        if found is None:
            raise _no_token(query, place)
        kind, place = found.lastgroup, found.end()
        if kind == "string":
            _check_string(query, found)
        if kind not in ("space", "comment"):
            yield Token(kind, found[0], found.start())  # type: ignore[arg-type]  # the groups are the kinds


def _check_string(query: str, found: re.Match[str]) -> None:
    escape = ESCAPE.search(found[0].replace("\\\\", "  "))
    if escape is not None:
        message = f"'{found[0][escape.start() : escape.start() + 2]}' is no escape that all databases read alike"
        raise at(query, found.start() + escape.start(), message, hint="pass the text as a parameter")


def _no_token(query: str, place: int) -> QueryError:
    char = query[place]
    if char in "'\"`" or query.startswith("/*", place):
        what = {"`": "a quoted name", "/": "a comment"}.get(char, "a text")
        return at(query, place, f"{what} is not closed", code="syntax")
    shown = char if char.isprintable() and char != " " else f"U+{ord(char):04X}"
    return at(query, place, f"the character {shown} is not allowed here", hint="write it in a text or between ``")


def _check_beginning(query: str, token: Token) -> None:
    if token.word not in CLAUSES:
        raise _refused(query, token, "a query begins with MATCH, OPTIONAL MATCH, UNWIND, WITH, CALL { or RETURN")


def _check_depth(query: str, tokens: list[Token]) -> None:
    """Databases that read nested brackets by recursion end with their process where these are too deep."""
    depth = 0
    for token in tokens:
        depth += token.is_sign("(", "[", "{") - token.is_sign(")", "]", "}")
        if depth > MAX_DEPTH:
            raise at(query, token.start, f"brackets are nested more than {MAX_DEPTH} deep", code="size")


def _step(query: str, tokens: list[Token], place: int, state: State) -> State:
    """Checks one token where ``state`` says what may come; gives what may come next."""
    token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else END
    if token.kind == "sign":
        return _sign(query, tokens, place, state)
    if token.kind in ("string", "number", "parameter"):
        if state == "operator" and not (token.kind == "number" and tokens[place - 1].is_sign("*")):
            raise _refused(query, token, "an operator or a clause that reads is missing before it")
        return "operator"
    is_key = after.is_sign(":") and place > 0 and tokens[place - 1].is_sign("{", ",")
    if state == "name" or is_key or (state == "label" and token.word not in KEYWORDS - {"call"}):
        if after.is_sign("("):
            _check_function(query, tokens, place)
        return "operator"
    if token.word in KEYWORDS:
        return _keyword(query, tokens, place)
    if state == "operator" or token.reserved:
        raise _refused(query, token, "only what reads may stand here; a name is written between `` if need be")
    if after.is_sign("("):
        _check_function(query, tokens, place)
    return "operator"


def _sign(query: str, tokens: list[Token], place: int, state: State) -> State:
    token = tokens[place]
    if token.text == ";":
        raise at(query, token.start, "there is more than one query; send them one by one")
    if token.text == "." and tokens[place - 1].kind == "number":
        raise at(query, token.start, "a number does not end with a point", code="syntax", hint="write 5.0 for 5.")
    if token.text == ".":
        return "name"
    if token.text in (":", "::"):
        return "label"
    if token.text == "*" and state != "operator":  # all columns, properties or hops; behind an operand it multiplies
        return "operator"
    return "operator" if token.text in (")", "]", "}") else "operand"


def _keyword(query: str, tokens: list[Token], place: int) -> State:
    token, following = tokens[place], [*tokens[place + 1 : place + 3], END, END]
    if token.word == "call" and not following[0].is_sign("{", "("):
        raise _refused(query, token, "procedures are not called here; CALL { … } is a subquery")
    if token.word == "call" and following[0].is_sign("{"):
        _check_beginning(query, following[1])
    if token.word == "union":
        _check_beginning(query, following[following[0].word in ("all", "distinct")])
    if token.word == "as":
        return "name"
    return "operator" if token.word in OPERAND_KEYWORDS else "operand"


def _check_function(query: str, tokens: list[Token], place: int) -> None:
    """A name before a bracket is a function; ``a.b.c(`` one of a namespace."""
    first = place
    while first >= 2 and tokens[first - 1].is_sign(".") and tokens[first - 2].kind in ("word", "quoted"):
        first -= 2
    chain = tokens[first : place + 1]
    name = ".".join(token.text for token in chain[::2]).lower()
    if name in FUNCTIONS and name.isascii():
        return
    if chain[-1].reserved:
        raise _refused(query, chain[-1], "only what reads may stand here")
    raise at(query, chain[0].start, f"the function {name} is not allowed", hint=did_you_mean(name, sorted(FUNCTIONS)))


def _refused(query: str, token: Token, hint: str) -> QueryError:
    shown = token.text.upper() if token.reserved else token.text
    return at(query, token.start, f"{shown[:40]} is not allowed here", hint=hint)


def at(query: str, place: int, message: str, *, code: str = "forbidden", hint: str = "") -> QueryError:
    """An error at a character of the query."""
    line, column = query.count("\n", 0, place) + 1, place - query.rfind("\n", 0, place)
    return QueryError(message, code=code, hint=hint, line=line, column=column)
