"""The functions that a SELECT may call, and what is known of what they take and give. All others are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graph.tables import NUMBER, TEXT, TEXTS, UNKNOWN, Family, Kind


@dataclass(frozen=True, slots=True)
class Function:
    """``takes``: what each argument must be. ``gives``: a kind, or the kind, list or element of the first argument, or
    a number in its unit (``measure``).

    ``lists``: takes columns with many values.
    """

    takes: Literal["any", "text", "number", "date"] = "any"
    gives: Kind | Literal["first", "element", "list", "measure"] = UNKNOWN
    lists: bool = False


def each(names: str, function: Function) -> dict[str, Function]:
    return dict.fromkeys(names.split(), function)


BOOLEAN, DATE = Kind("boolean"), Kind("date")
FAMILY_WORDS: dict[Family, str] = {
    "text": "text", "number": "a number", "boolean": "true or false", "date": "a date", "interval": "an interval",
}  # fmt: skip

AGGREGATES = (
    each("count", Function(gives=NUMBER))
    | each("sum avg median stddev stddev_pop stddev_samp", Function("number", "measure"))
    | each("product variance var_pop var_samp skewness kurtosis", Function("number", NUMBER))
    | each("corr covar_pop covar_samp", Function("number", NUMBER))
    | each("min max mode any_value first last arg_max arg_min max_by min_by", Function(gives="first"))
    | each("quantile_cont quantile_disc", Function(gives="first"))
    | each("approx_count_distinct", Function(gives=NUMBER))
    | each("count_if", Function(gives=NUMBER))
    | each("bool_and bool_or", Function(gives=BOOLEAN))
    | each("array_agg list", Function(gives="list"))
    | each("string_agg group_concat listagg", Function("text", TEXT))
)
WINDOWS = each("row_number rank dense_rank percent_rank cume_dist ntile", Function(gives=NUMBER)) | each(
    "lag lead first_value last_value nth_value", Function(gives="first")
)
SCALARS = (
    each("abs ceil ceiling floor round trunc", Function("number", "measure"))
    | each("sqrt power pow exp ln log log10 log2 sign mod", Function("number", NUMBER))
    | each("sin cos tan degrees radians pi", Function("number", NUMBER))
    | each("greatest least nullif", Function(gives="first"))
    | each("lower upper trim ltrim rtrim replace reverse strip_accents nfc_normalize", Function("text", TEXT))
    | each("substring substr left right lpad rpad split_part", Function(gives=TEXT))
    | each("regexp_extract regexp_replace", Function(gives=TEXT))
    | each("concat concat_ws format printf md5 chr", Function(gives=TEXT))
    | each("strlen ascii unicode strpos instr levenshtein editdist3 damerau_levenshtein", Function("text", NUMBER))
    | each("jaccard jaro_similarity jaro_winkler_similarity", Function("text", NUMBER))
    | each("contains starts_with ends_with prefix suffix", Function("text", BOOLEAN))
    | each("regexp_matches regexp_full_match", Function("text", BOOLEAN))
    | each("string_split split str_split regexp_extract_all", Function(gives=TEXTS))
    | each("year month day quarter week dayofweek dayofyear isodow yearweek decade century", Function("date", NUMBER))
    | each("monthname dayname", Function("date", TEXT))
    | each("last_day", Function("date", DATE))
    | each("date_part date_diff datediff date_sub datesub", Function(gives=NUMBER))
    | each("date_trunc make_date today", Function(gives=DATE))
    | each("date_add", Function(gives=DATE))
    | each("strftime", Function(gives=TEXT))
    | each("age", Function(gives=Kind("interval")))
    | each("isnan isfinite", Function("number", BOOLEAN))
    | each("grouping", Function(gives=NUMBER))
)
LISTS = (
    each("len length array_length list_count", Function(gives=NUMBER, lists=True))
    | each("list_position list_indexof array_position", Function(gives=NUMBER, lists=True))
    | each("list_contains array_contains list_has array_has", Function(gives=BOOLEAN, lists=True))
    | each("list_has_any array_has_any list_has_all array_has_all", Function(gives=BOOLEAN, lists=True))
    | each("array_to_string list_string_agg", Function(gives=TEXT, lists=True))
    | each("list_sort array_sort list_reverse_sort list_distinct array_distinct", Function(gives="first", lists=True))
    | each("list_reverse array_reverse list_slice array_slice list_concat", Function(gives="first", lists=True))
    | each("list_append array_append list_intersect array_intersect", Function(gives="first", lists=True))
    | each("list_extract list_element array_extract list_first list_last", Function(gives="element", lists=True))
    | each("list_min list_max list_any_value unnest", Function(gives="element", lists=True))
    | each("list_sum list_avg list_median", Function(gives="measure", lists=True))
    | each("list_unique", Function(gives=NUMBER, lists=True))
    | each("list_value", Function(gives="list"))
    | each("coalesce ifnull", Function(gives="first", lists=True))
    | each("provenance", Function(gives=TEXTS, lists=True))
)
FUNCTIONS = AGGREGATES | WINDOWS | SCALARS | LISTS

TABLE_FUNCTIONS = ("range", "generate_series", "neighbours", "paths")
