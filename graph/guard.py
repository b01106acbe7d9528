"""Lets through one SELECT statement made of harmless parts; all else is refused before anything runs.

The lists below say what is allowed, so that what a newer parser or database adds is refused until it is looked at.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from sqlglot import TokenType, exp, tokenize
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.duckdb import DuckDBParser

from graph.bind import Parameters, bind
from graph.functions import FUNCTIONS, TABLE_FUNCTIONS
from ontology.findings import did_you_mean
from ontoloom.errors import QueryError

DIALECT = "duckdb"
MAX_CHARACTERS = 100_000
MAX_NODES = 20_000
ANALYZE = re.compile(r"\s+analy[sz]e\b", re.IGNORECASE)
EXPLAIN = re.compile(r"\s*explain(?=\s)", re.IGNORECASE)
SPAN = "span"
"""Key of a node's meta: the statement, and the start and end of the node in it."""


def named_argument(parser: DuckDBParser, names: list[exp.Expr]) -> exp.Kwarg:
    """``depth => 2``, with the place of its name, which sqlglot drops."""
    name = exp.var(names[0].name)
    name.meta.update(names[0].meta)
    return exp.Kwarg(this=name, expression=parser._parse_disjunction())


WORDED_FUNCTIONS = ("CAST", "TRY_CAST", "EXTRACT", "SUBSTRING", "TRIM", "POSITION")
"""Those with words between their arguments, as in ``substring(name FROM 2)``."""


class Parser(DuckDBParser):
    """Keeps every function as it is written: sqlglot's own rewriting of functions would alter what some of them do."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: DuckDBParser.FUNCTION_PARSERS[name] for name in WORDED_FUNCTIONS
    }

    LAMBDAS: ClassVar[dict[TokenType, Callable[..., Any]]] = {
        **DuckDBParser.LAMBDAS, TokenType.FARROW: lambda parser, names: named_argument(parser, names),
    }  # fmt: skip

    def _parse_version(self) -> exp.Version | None:
        """``AS OF …`` behind a table; ``AS of`` with nothing behind it names the table *of*."""
        if self._match_text_seq("AS", "OF", advance=False):
            start, beyond = self._curr, self._tokens[self._index + 2 : self._index + 3]
            if not beyond or beyond[0].token_type in self.TABLE_TERMINATORS:
                return None
            self._match_text_seq("AS", "OF")
            version = exp.Version(this="TIMESTAMP", kind="AS OF", expression=self._parse_bitwise())
            version.meta.update(start=start.start, end=self._prev.end)
            return version
        return super()._parse_version()


SKIPPING: dict[str, type[exp.Func]] = {
    "first_value": exp.FirstValue, "last_value": exp.LastValue, "nth_value": exp.NthValue, "lag": exp.Lag,
    "lead": exp.Lead,
}  # fmt: skip
"""Those that may IGNORE NULLS, which sqlglot writes only for functions that it knows."""

STRUCTURE = (
    exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Limit, exp.Offset,
    exp.Fetch, exp.LimitOptions, exp.Distinct, exp.Join, exp.Table, exp.TableAlias, exp.Alias, exp.With, exp.CTE,
    exp.Subquery, exp.Union, exp.Intersect, exp.Except, exp.Unnest, exp.Lateral, exp.Values, exp.Tuple, exp.Cube,
    exp.Rollup, exp.GroupingSets, exp.Version,
)  # fmt: skip
EXPRESSIONS = (
    exp.Column, exp.Identifier, exp.Star, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Exists, exp.In,
    exp.Between, exp.Like, exp.ILike, exp.SimilarTo, exp.Escape, exp.Is, exp.Not, exp.And, exp.Or, exp.EQ, exp.NEQ,
    exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv,
    exp.Pow, exp.Mod, exp.Neg, exp.DPipe, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam,
    exp.Interval, exp.Var, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.Array,
    exp.Bracket, exp.Slice, exp.Any, exp.All, exp.Anonymous, exp.Extract, exp.CurrentDate,
    exp.Substring, exp.Trim, exp.StrPosition, exp.IgnoreNulls, exp.Kwarg, exp.PropertyEQ,
    exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead,
)  # fmt: skip
ALLOWED = frozenset((*STRUCTURE, *EXPRESSIONS))

TYPES = {
    exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.UTINYINT, exp.DType.USMALLINT,
    exp.DType.UINT, exp.DType.UBIGINT, exp.DType.INT128, exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL,
    exp.DType.BOOLEAN, exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR, exp.DType.DATE, exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ, exp.DType.TIME, exp.DType.INTERVAL, exp.DType.ARRAY, exp.DType.LIST,
}  # fmt: skip
JOINS = frozenset(("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI", "LEFT", "RIGHT", "FULL", "NATURAL", "ASOF"))

NAMES: dict[type[exp.Expr], str] = {
    exp.Insert: "INSERT", exp.Update: "UPDATE", exp.Delete: "DELETE", exp.Merge: "MERGE", exp.Create: "CREATE",
    exp.Drop: "DROP", exp.Alter: "ALTER", exp.Copy: "COPY", exp.Into: "SELECT INTO", exp.Pragma: "PRAGMA",
    exp.Set: "SET", exp.Attach: "ATTACH", exp.Detach: "DETACH", exp.Use: "USE", exp.Describe: "DESCRIBE",
    exp.Summarize: "SUMMARIZE", exp.Show: "SHOW", exp.Values: "VALUES alone", exp.Pivot: "PIVOT",
    exp.Lambda: "a lambda", exp.TableSample: "a sample", exp.Lock: "FOR UPDATE", exp.Parameter: "a parameter",
    exp.Placeholder: "a parameter", exp.Columns: "COLUMNS()", exp.Dot: "a qualified function or field",
}  # fmt: skip
"""How people call what is refused, where the class's own name would not tell."""


Amend: TypeAlias = Callable[[exp.Query], exp.Query]
"""Changes a statement before it is checked, so that what comes in is checked too."""


def parse(sql: str, *, parameters: Parameters | None = None, amend: Amend | None = None) -> exp.Query:
    """The one SELECT statement (WITH and set operations included) that the text holds, each node with its position.

    ``parameters`` take the place of ``?``, ``$name`` and ``:name``. Raises QueryError at the first thing that is not
    allowed.
    """
    if len(sql) > MAX_CHARACTERS:
        raise QueryError(f"the statement has {len(sql):,} characters; at most {MAX_CHARACTERS:,} are read", code="size")
    statements = [s for s in read_statements(sql, parameters) if s is not None]
    if not statements:
        raise QueryError("there is no statement; write SELECT … FROM …", code="syntax")
    for statement in statements:
        stamp_spans(statement, sql)
        for skipping in list(statement.find_all(exp.IgnoreNulls)):
            make_known(skipping)
        for distinct in list(statement.find_all(exp.Distinct)):
            keep_arguments(distinct)
    if len(statements) > 1:
        raise at(statements[1], "there is more than one statement; send them one by one", code="forbidden")
    query = statements[0]
    if not isinstance(query, exp.Query):
        verb = query.name.upper() if isinstance(query, exp.Command) else spell(query)
        raise QueryError(f"{verb} is not allowed; only SELECT is", code="forbidden", line=1, column=1)
    query = amend(query) if amend is not None else query
    for node in query.walk():
        check(node)
    return query


def without_explain(sql: str) -> tuple[str, bool]:
    """A statement with blanks for an EXPLAIN before it, so that places stay what they are; whether it was there."""
    match = EXPLAIN.match(sql)
    if match and ANALYZE.match(sql, match.end()):
        raise QueryError("EXPLAIN ANALYZE is not allowed; EXPLAIN alone is", code="forbidden", line=1, column=1)
    return (" " * match.end() + sql[match.end() :], True) if match else (sql, False)


def read_statements(sql: str, parameters: Parameters | None) -> list[exp.Expr | None]:
    logger = logging.getLogger("sqlglot")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it warns of what it takes for a command, which is refused below
    try:
        tokens = tokenize(sql, read=DIALECT)
        tokens = tokens if parameters is None else bind(tokens, parameters)
        return Parser(dialect=DIALECT, max_nodes=MAX_NODES).parse(tokens, sql)
    except ParseError as error:
        raise syntax_error(error) from None
    except TokenError:
        raise QueryError("a quotation mark or comment is not closed", code="syntax") from None
    except RecursionError:
        raise QueryError("the statement is nested too deeply", code="size") from None
    finally:
        logger.setLevel(level)


def syntax_error(error: ParseError) -> QueryError:
    first = error.errors[0]
    word = first["highlight"] or ""
    message = f"cannot read the statement at '{word}'" if word else "the statement is not complete"
    if "Maximum number" in (first["description"] or ""):
        return QueryError(f"the statement has more than {MAX_NODES:,} parts", code="size")
    column = (first["col"] or 0) - len(word) + 1  # sqlglot gives the column of the last character
    return QueryError(message, code="syntax", line=first["line"] or 0, column=max(column, 1))


def stamp_spans(statement: exp.Expr, sql: str) -> None:
    """Gives each node the text of the statement and the span in it that its words cover, for errors."""
    for node in reversed(list(statement.walk())):  # children before parents
        meta = node.meta
        start, end = meta.get("start"), meta.get("end")
        spans = [meta[SPAN]] if SPAN in meta else []
        spans += [(sql, start, end + 1)] if start is not None and end is not None else []
        if spans:
            meta[SPAN] = (sql, min(s[1] for s in spans), max(s[2] for s in spans))
        if SPAN in meta and node.parent is not None:
            _, low, high = node.parent.meta.get(SPAN, meta[SPAN])
            node.parent.meta[SPAN] = (sql, min(low, meta[SPAN][1]), max(high, meta[SPAN][2]))


def make_known(node: exp.IgnoreNulls) -> None:
    function = node.parent
    known = SKIPPING.get(function.name.lower()) if isinstance(function, exp.Anonymous) else None
    if function is None or known is None or not isinstance(function.parent, exp.Window):
        raise at(node, f"IGNORE NULLS belongs in a window's {', '.join(SKIPPING)}", code="forbidden")
    node.replace(node.this)
    made = known.from_arg_list(function.expressions)
    made.meta.update(function.meta)
    function.replace(exp.IgnoreNulls(this=made))


def keep_arguments(node: exp.Distinct) -> None:
    """``string_agg(DISTINCT name, ', ')``: DISTINCT is of the first argument; sqlglot would make a row of both."""
    holder = node.parent
    function = holder.parent if isinstance(holder, exp.Order) else holder
    first, *others = node.expressions or [None]
    if not others or not isinstance(function, exp.Anonymous) or function.name.lower() == "count":
        return
    node.set("expressions", [first])
    if isinstance(holder, exp.Order):
        holder.replace(node)
        last = others[-1]
        holder.set("this", last)
        others[-1] = holder
    function.set("expressions", [node, *others])


def spelled(node: exp.Expr) -> str:
    """A node as the statement spells it."""
    if SPAN not in node.meta:
        return node.name or "the expression"
    sql, start, end = node.meta[SPAN]
    text = sql[start:end]
    while text.count("(") > text.count(")") and ")" in sql[end:]:  # closing brackets are no node's own
        end = sql.index(")", end) + 1
        text = sql[start:end]
    return " ".join(text.split())


def written(node: exp.Expr) -> str:
    """A node as SQL, for the names of columns."""
    return node.sql(dialect=DIALECT, normalize_functions=False, comments=False)


def at(node: exp.Expr, message: str, *, code: str, hint: str = "") -> QueryError:
    """An error at the place of a node, which is where its first word stands; lines and columns count from 1."""
    spans = [node.meta[SPAN]] if SPAN in node.meta else [n.meta[SPAN] for n in node.walk() if SPAN in n.meta]
    if not spans and node.parent is not None:  # NULL, TRUE: words of which the parser keeps no place
        return at(node.parent, message, code=code, hint=hint)
    if not spans:
        return QueryError(message, code=code, hint=hint)
    sql, start, _ = min(spans, key=lambda span: span[1])
    line, column = sql.count("\n", 0, start) + 1, start - sql.rfind("\n", 0, start)
    return QueryError(message, code=code, hint=hint, line=line, column=column)


def check(node: exp.Expr) -> None:
    """Raises QueryError where a node is not on the lists."""
    if type(node) not in ALLOWED:
        raise at(node, f"{spell(node)} is not allowed here", code="forbidden")
    if isinstance(node, exp.Anonymous):
        check_function(node)
    elif isinstance(node, exp.DataType) and node.this not in TYPES:
        raise at(node.parent or node, f"the type {written(node)} is not allowed here", code="forbidden")
    elif isinstance(node, exp.Join):
        words = {str(node.args.get(part) or "").upper() for part in ("kind", "side", "method")}
        if not words <= JOINS:
            raise at(node, f"a {' '.join(sorted(words)).strip()} JOIN is not allowed", code="forbidden")
    elif isinstance(node, exp.Star):
        check_star(node)
    elif isinstance(node, exp.Kwarg | exp.PropertyEQ) and not is_of_table_function(node):
        raise at(node, "arguments have names only in neighbours(…) and paths(…) in FROM", code="forbidden")
    elif isinstance(node, exp.Version) and node.text("kind") != "AS OF":
        raise at(node, "a table is read AS OF one time", code="forbidden")
    elif isinstance(node, exp.Alias) and not isinstance(node.parent, exp.Select):
        raise at(node, "names are given in the SELECT list and in FROM, not here", code="forbidden")


def check_star(node: exp.Star) -> None:
    """``*`` stands alone in a SELECT list, or in ``count(*)``; elsewhere it would be all columns, stored ones too."""
    if node.args.get("replace") or node.args.get("rename"):
        raise at(node, "* with REPLACE or RENAME is not allowed; name the columns", code="forbidden")
    parent = node.parent
    counted = isinstance(parent, exp.Anonymous) and parent.name.lower() == "count"
    holder = parent.parent if isinstance(parent, exp.Column) else parent
    if not counted and not isinstance(holder, exp.Select):
        raise at(node, "* belongs in the SELECT list, alone or with EXCLUDE, or in count(*)", code="forbidden")
    for name in node.args.get("except_") or []:
        if not isinstance(name, (exp.Column, exp.Identifier)):
            raise at(name, "EXCLUDE takes names of columns", code="syntax")


def is_of_table_function(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Anonymous) and isinstance(node.parent.parent, exp.Table)


def check_function(node: exp.Anonymous) -> None:
    name = node.name.lower()
    if isinstance(node.this, exp.Identifier):
        raise at(node, "the name of a function is written without quotes", code="forbidden")
    if isinstance(node.parent, exp.Table):
        if name not in TABLE_FUNCTIONS:
            allowed = ", ".join(("unnest", *TABLE_FUNCTIONS))
            raise at(node, f"the table function {name} is not allowed", code="forbidden", hint=f"allowed: {allowed}")
    elif name not in FUNCTIONS:
        proposal = did_you_mean(name, list(FUNCTIONS))
        raise at(node, f"there is no function {name} here", code="unknown-function", hint=proposal)


def spell(node: exp.Expr) -> str:
    return NAMES.get(type(node)) or type(node).key.upper()
