"""Functions of texts, and hashes."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import (
    ANY,
    BYTES,
    INTEGER,
    TEXT,
    TEXT_OR_BYTES,
    TEXT_OR_INTEGER,
    shared,
    takes,
)
from penstock.columns.functions.function import Function, SignatureError, Site
from penstock.columns.kernels import encodings, regular_expressions, strings
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.nested import MapType
from penstock.columns.typesystem.scalars import MAX_LENGTH, CharType, VarCharType

_STRING = DataTypes.STRING()
_INT = DataTypes.INT()
_BOOLEAN = DataTypes.BOOLEAN()


def _overlay_type(site: Site) -> DataType:
    lengths = [t.length for t in site.types[:2] if isinstance(t, (CharType, VarCharType))]
    return VarCharType(min(sum(lengths), MAX_LENGTH))


def _elt_arguments(site: Site) -> tuple[DataType, ...]:
    if len(site.types) < 2 or not families.is_integer(site.types[0]):
        raise SignatureError("it takes (whole number, text, ..)")
    return shared(1, skip=1, kind=TEXT_OR_BYTES)(site)


def _elt_type(site: Site) -> DataType:
    return site.types[1].nullable()


def _text(name: str, kernel: object, arguments: object, *sql: str) -> Function:
    """One that gives STRING, null when an argument may be."""
    return Function(name, arguments, results.of(_STRING), kernel, sql)  # type: ignore[arg-type]


STRINGS: tuple[Function, ...] = (
    Function("concatenate", takes(TEXT, TEXT), results.joined_text, strings.concat),
    Function("charLength", takes(TEXT), results.of(_INT), strings.length, ("CHAR_LENGTH", "CHARACTER_LENGTH")),
    Function("upper", takes(TEXT), results.like(), strings.upper, ("UPPER", "UCASE")),
    Function("lower", takes(TEXT), results.like(), strings.lower, ("LOWER", "LCASE")),
    Function("position", takes(TEXT, TEXT, INTEGER, optional=1), results.of(_INT), strings.position),
    Function("trim", takes(TEXT, TEXT, optional=1), results.varying_text(), strings.trim),
    Function("ltrim", takes(TEXT, TEXT, optional=1), results.varying_text(), strings.trimming(str.lstrip), ("LTRIM",)),
    Function("rtrim", takes(TEXT, TEXT, optional=1), results.varying_text(), strings.trimming(str.rstrip), ("RTRIM",)),
    Function("BTRIM", takes(TEXT, TEXT, optional=1), results.of(_STRING), strings.trimming(str.strip), ("BTRIM",)),
    _text("repeat", strings.repeat, takes(TEXT, INTEGER), "REPEAT"),
    _text("regexpReplace", regular_expressions.regexp_replace, takes(TEXT, TEXT, TEXT), "REGEXP_REPLACE"),
    Function(
        "overlay",
        takes(TEXT, TEXT, INTEGER, INTEGER, optional=1),
        results.computed(_overlay_type),
        strings.overlay,
        ("OVERLAY",),
    ),
    Function(
        "substring",
        takes(TEXT, INTEGER, INTEGER, optional=1),
        results.varying_text(null_in_sql=True),
        strings.substring,
        ("SUBSTRING", "SUBSTR"),
    ),
    _text("replace", strings.replace, takes(TEXT, TEXT, TEXT), "REPLACE"),
    _text("TRANSLATE3", strings.translate, takes(TEXT, TEXT, TEXT), "TRANSLATE"),
    Function(
        "regexpExtract",
        takes(TEXT, TEXT, INTEGER, optional=1),
        results.maybe(_STRING),
        regular_expressions.regexp_extract,
        ("REGEXP_EXTRACT",),
    ),
    Function(
        "REGEXP_EXTRACT_ALL",
        takes(TEXT, TEXT, INTEGER, optional=1),
        results.maybe(DataTypes.ARRAY(_STRING)),
        regular_expressions.regexp_extract_all,
        ("REGEXP_EXTRACT_ALL",),
    ),
    Function(
        "REGEXP_COUNT", takes(TEXT, TEXT), results.maybe(_INT), regular_expressions.regexp_count, ("REGEXP_COUNT",)
    ),
    Function(
        "REGEXP_INSTR", takes(TEXT, TEXT), results.maybe(_INT), regular_expressions.regexp_instr, ("REGEXP_INSTR",)
    ),
    Function(
        "REGEXP_SUBSTR",
        takes(TEXT, TEXT),
        results.maybe(_STRING),
        regular_expressions.regexp_substr,
        ("REGEXP_SUBSTR",),
    ),
    Function("regexp", takes(TEXT, TEXT), results.of(_BOOLEAN), regular_expressions.regexp, ("REGEXP",)),
    Function("initCap", takes(TEXT), results.like(), strings.initcap, ("INITCAP",)),
    _text("concat", strings.concat, takes(TEXT, TEXT, optional=1, repeated=True), "CONCAT"),
    Function(
        "concat_ws",
        takes(TEXT, TEXT, optional=1, repeated=True),
        results.of(_STRING),
        strings.concat_ws,
        ("CONCAT_WS",),
    ),
    _text("lpad", strings.lpad, takes(TEXT, INTEGER, TEXT), "LPAD"),
    _text("rpad", strings.rpad, takes(TEXT, INTEGER, TEXT), "RPAD"),
    _text("fromBase64", encodings.from_base64, takes(TEXT), "FROM_BASE64"),
    _text("toBase64", encodings.to_base64, takes(TEXT), "TO_BASE64"),
    Function("ascii", takes(TEXT), results.of(_INT), encodings.ascii_code, ("ASCII",)),
    Function("chr", takes(INTEGER), results.maybe_in_sql(_STRING), encodings.character, ("CHR",)),
    _text("decode", encodings.decode, takes(BYTES, TEXT), "DECODE"),
    Function("encode", takes(TEXT, TEXT), results.of(DataTypes.BYTES()), encodings.encode, ("ENCODE",)),
    Function("instr", takes(TEXT, TEXT, INTEGER, INTEGER, optional=2), results.of(_INT), strings.instr, ("INSTR",)),
    Function("left", takes(TEXT, INTEGER), results.varying_text(null_in_sql=True), strings.left, ("LEFT",)),
    Function("right", takes(TEXT, INTEGER), results.varying_text(null_in_sql=True), strings.right, ("RIGHT",)),
    Function("locate", takes(TEXT, TEXT, INTEGER, optional=1), results.of(_INT), strings.locate, ("LOCATE",)),
    Function("URL_DECODE", takes(TEXT), results.maybe(_STRING), encodings.url_decode, ("URL_DECODE",)),
    Function("URL_ENCODE", takes(TEXT), results.maybe(_STRING), encodings.url_encode, ("URL_ENCODE",)),
    Function(
        "parseUrl",
        takes(TEXT, TEXT, TEXT, optional=1),
        results.maybe_in_sql(_STRING),
        encodings.parse_url,
        ("PARSE_URL",),
    ),
    Function(
        "PRINTF", takes(TEXT, ANY, optional=1, repeated=True), results.maybe(_STRING), encodings.printf, ("PRINTF",)
    ),
    Function("INET_ATON", takes(TEXT), results.maybe(DataTypes.BIGINT()), encodings.inet_aton, ("INET_ATON",)),
    Function("INET_NTOA", takes(INTEGER), results.maybe(_STRING), encodings.inet_ntoa, ("INET_NTOA",)),
    Function("reverse", takes(TEXT), results.maybe_in_sql(_STRING), strings.reverse, ("REVERSE",)),
    Function("SPLIT", takes(TEXT, TEXT), results.of(DataTypes.ARRAY(_STRING)), strings.split, ("SPLIT",)),
    Function(
        "splitIndex",
        takes(TEXT, TEXT_OR_INTEGER, INTEGER),
        results.maybe_in_sql(_STRING),
        strings.split_index,
        ("SPLIT_INDEX",),
    ),
    Function(
        "strToMap",
        takes(TEXT, TEXT, TEXT, optional=2),
        results.maybe_in_sql(MapType(_STRING, _STRING)),
        strings.str_to_map,
        ("STR_TO_MAP",),
    ),
    Function("ELT", _elt_arguments, _elt_type, strings.elt, ("ELT",)),
    Function("STARTSWITH", shared(2, kind=TEXT_OR_BYTES), results.of(_BOOLEAN), strings.starts_with, ("STARTSWITH",)),
    Function("ENDSWITH", shared(2, kind=TEXT_OR_BYTES), results.of(_BOOLEAN), strings.ends_with, ("ENDSWITH",)),
)

HASHES: tuple[Function, ...] = (
    Function("md5", takes(TEXT), results.of(DataTypes.CHAR(32)), encodings.hashing("md5"), ("MD5",)),
    Function("sha1", takes(TEXT), results.of(DataTypes.CHAR(40)), encodings.hashing("sha1"), ("SHA1",)),
    Function("sha224", takes(TEXT), results.of(DataTypes.CHAR(56)), encodings.hashing("sha224"), ("SHA224",)),
    Function("sha256", takes(TEXT), results.of(DataTypes.CHAR(64)), encodings.hashing("sha256"), ("SHA256",)),
    Function("sha384", takes(TEXT), results.of(DataTypes.CHAR(96)), encodings.hashing("sha384"), ("SHA384",)),
    Function("sha512", takes(TEXT), results.of(DataTypes.CHAR(128)), encodings.hashing("sha512"), ("SHA512",)),
    Function("sha2", takes(TEXT, INTEGER), results.of(DataTypes.VARCHAR(128)), encodings.sha2, ("SHA2",)),
)
