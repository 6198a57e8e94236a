"""JSON and VARIANT."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import ANY, TEXT, anything, takes
from penstock.columns.functions.function import Function, SignatureError, Site
from penstock.columns.kernels import json_functions
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.scalars import DateType, TimeType, VariantType

_STRING = DataTypes.STRING()
_BOOLEAN = DataTypes.BOOLEAN()


def _value_arguments(site: Site) -> tuple[DataType, ...]:
    """The document and the path; after them the two defaults, if there are any."""
    returning = site.option("returning", _STRING)
    if len(site.types) < 2 or not all(families.is_text(data_type) for data_type in site.types[:2]):
        raise SignatureError("it takes (document, path) as texts")
    return (*site.types[:2], *(returning for _ in site.types[2:]))


def _returning(site: Site) -> DataType:
    found: DataType = site.option("returning", _STRING)
    return found.nullable()


def _json_values(site: Site) -> tuple[DataType, ...]:
    wrong = [t for t in site.types if isinstance(t, (DateType, TimeType)) or families.is_interval(t)]
    if wrong:
        raise SignatureError(f"{wrong[0].as_summary_string()} has no JSON form: CAST it to STRING")
    return tuple(_STRING if families.is_null(data_type) else data_type for data_type in site.types)


def _one_json_value(site: Site) -> tuple[DataType, ...]:
    if len(site.types) != 1:
        raise SignatureError("it takes one value")
    return _json_values(site)


def _json_pairs(site: Site) -> tuple[DataType, ...]:
    if any(not families.is_text(data_type) for data_type in site.types[0::2]):
        raise SignatureError("the keys must be texts")
    return _json_values(site)


JSON: tuple[Function, ...] = (
    Function("IS_JSON", takes(TEXT), results.never_null(_BOOLEAN), json_functions.is_json),
    Function("JSON_EXISTS", takes(TEXT, TEXT), results.maybe(_BOOLEAN), json_functions.json_exists, ("JSON_EXISTS",)),
    Function("JSON_STRING", _one_json_value, results.of(_STRING), json_functions.json_string, ("JSON_STRING",)),
    Function("JSON_VALUE", _value_arguments, _returning, json_functions.json_value, ("JSON_VALUE",)),
    Function("JSON_QUERY", takes(TEXT, TEXT), _returning, json_functions.json_query, ("JSON_QUERY",)),
    Function("JSON_OBJECT", _json_pairs, results.never_null(_STRING), json_functions.json_object, ("JSON_OBJECT",)),
    Function("JSON_ARRAY", _json_values, results.never_null(_STRING), json_functions.json_array, ("JSON_ARRAY",)),
    Function("JSON_QUOTE", takes(TEXT), results.of(_STRING), json_functions.json_quote, ("JSON_QUOTE",)),
    Function("JSON_UNQUOTE", takes(TEXT), results.of(_STRING), json_functions.json_unquote, ("JSON_UNQUOTE",)),
    Function("JSON", takes(TEXT), results.of(_STRING), json_functions.json_fragment, ("JSON",)),
)

VARIANT: tuple[Function, ...] = (
    Function("PARSE_JSON", takes(TEXT), results.of(VariantType()), json_functions.parse_json, ("PARSE_JSON",)),
    Function(
        "TRY_PARSE_JSON", takes(TEXT), results.maybe(VariantType()), json_functions.try_parse_json, ("TRY_PARSE_JSON",)
    ),
)

__all__ = ["ANY", "JSON", "VARIANT", "anything"]
