"""Functions of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.table.fluent.base import Fluent, T

if TYPE_CHECKING:
    from penstock.table.expression import Expression


class TextMethods(Fluent[T]):
    def concat(self, other: Any) -> Expression[Any]:
        return self._call("concat", other)

    def starts_with(self, start_expr: Any) -> Expression[Any]:
        return self._call("STARTSWITH", start_expr)

    def ends_with(self, end_expr: Any) -> Expression[Any]:
        return self._call("ENDSWITH", end_expr)

    def substring(self, begin_index: Any, length: Any = None) -> Expression[Any]:
        return self._call("substring", begin_index, length)

    def substr(self, begin_index: Any, length: Any = None) -> Expression[Any]:
        return self._call("substring", begin_index, length)

    def trim_leading(self, character: Any = None) -> Expression[Any]:
        return self._call("trim", " " if character is None else character, side="LEADING")

    def trim_trailing(self, character: Any = None) -> Expression[Any]:
        return self._call("trim", " " if character is None else character, side="TRAILING")

    def trim(self, character: Any = None) -> Expression[Any]:
        return self._call("trim", " " if character is None else character, side="BOTH")

    def replace(self, search: Any = None, replacement: Any = None) -> Expression[Any]:
        return self._call("replace", search, replacement)

    def translate(self, from_str: Any, to_str: Any) -> Expression[Any]:
        return self._call("TRANSLATE3", from_str, to_str)

    @property
    def char_length(self) -> Expression[Any]:
        return self._call("charLength")

    @property
    def upper_case(self) -> Expression[Any]:
        return self._call("upper")

    @property
    def lower_case(self) -> Expression[Any]:
        return self._call("lower")

    @property
    def init_cap(self) -> Expression[Any]:
        return self._call("initCap")

    def like(self, pattern: Any = None, escape: Any = None) -> Expression[Any]:
        return self._call("LIKE", pattern, escape)

    def similar(self, pattern: Any = None) -> Expression[Any]:
        return self._call("similar", pattern)

    def position(self, haystack: Any = None) -> Expression[Any]:
        return self._call("position", haystack)

    def lpad(self, length: Any, pad: Any) -> Expression[Any]:
        return self._call("lpad", length, pad)

    def rpad(self, length: Any, pad: Any) -> Expression[Any]:
        return self._call("rpad", length, pad)

    def overlay(self, new_string: Any, starting: Any, length: Any = None) -> Expression[Any]:
        return self._call("overlay", new_string, starting, length)

    def regexp(self, regex: Any) -> Expression[Any]:
        return self._call("regexp", regex)

    def regexp_count(self, regex: Any) -> Expression[Any]:
        return self._call("REGEXP_COUNT", regex)

    def regexp_replace(self, regex: Any, replacement: Any) -> Expression[Any]:
        return self._call("regexpReplace", regex, replacement)

    def regexp_extract(self, regex: Any, extract_index: Any = None) -> Expression[Any]:
        return self._call("regexpExtract", regex, extract_index)

    def regexp_extract_all(self, regex: Any, extract_index: Any = None) -> Expression[Any]:
        return self._call("REGEXP_EXTRACT_ALL", regex, extract_index)

    def regexp_instr(self, regex: Any) -> Expression[Any]:
        return self._call("REGEXP_INSTR", regex)

    def regexp_substr(self, regex: Any) -> Expression[Any]:
        return self._call("REGEXP_SUBSTR", regex)

    @property
    def from_base64(self) -> Expression[Any]:
        return self._call("fromBase64")

    @property
    def to_base64(self) -> Expression[Any]:
        return self._call("toBase64")

    @property
    def ascii(self) -> Expression[Any]:
        return self._call("ascii")

    @property
    def chr(self) -> Expression[Any]:
        return self._call("chr")

    def decode(self, charset: Any) -> Expression[Any]:
        return self._call("decode", charset)

    def encode(self, charset: Any) -> Expression[Any]:
        return self._call("encode", charset)

    def left(self, length: Any) -> Expression[Any]:
        return self._call("left", length)

    def right(self, length: Any) -> Expression[Any]:
        return self._call("right", length)

    def instr(self, s: Any) -> Expression[Any]:
        return self._call("instr", s)

    def locate(self, s: Any, pos: Any = None) -> Expression[Any]:
        return self._call("locate", s, pos)

    def url_decode(self) -> Expression[Any]:
        return self._call("URL_DECODE")

    def url_encode(self) -> Expression[Any]:
        return self._call("URL_ENCODE")

    def inet_aton(self) -> Expression[Any]:
        return self._call("INET_ATON")

    def inet_ntoa(self) -> Expression[Any]:
        return self._call("INET_NTOA")

    def parse_url(self, part_to_extract: Any, key: Any = None) -> Expression[Any]:
        return self._call("parseUrl", part_to_extract, key)

    def printf(self, *obj: Any) -> Expression[Any]:
        return self._call("PRINTF", *obj)

    def ltrim(self, trim_str: Any = None) -> Expression[Any]:
        return self._call("ltrim", trim_str)

    def rtrim(self, trim_str: Any = None) -> Expression[Any]:
        return self._call("rtrim", trim_str)

    def btrim(self, trim_str: Any = None) -> Expression[Any]:
        return self._call("BTRIM", trim_str)

    def repeat(self, n: Any) -> Expression[Any]:
        return self._call("repeat", n)

    @property
    def reverse(self) -> Expression[Any]:
        return self._call("reverse")

    def split_index(self, separator: Any, index: Any) -> Expression[Any]:
        return self._call("splitIndex", separator, index)

    def str_to_map(self, list_delimiter: Any = None, key_value_delimiter: Any = None) -> Expression[Any]:
        return self._call("strToMap", list_delimiter, key_value_delimiter)

    def elt(self, expr: Any, *exprs: Any) -> Expression[Any]:
        return self._call("ELT", expr, *exprs)

    def split(self, delimiter: Any) -> Expression[Any]:
        return self._call("SPLIT", delimiter)

    @property
    def md5(self) -> Expression[Any]:
        return self._call("md5")

    @property
    def sha1(self) -> Expression[Any]:
        return self._call("sha1")

    @property
    def sha224(self) -> Expression[Any]:
        return self._call("sha224")

    @property
    def sha256(self) -> Expression[Any]:
        return self._call("sha256")

    @property
    def sha384(self) -> Expression[Any]:
        return self._call("sha384")

    @property
    def sha512(self) -> Expression[Any]:
        return self._call("sha512")

    def sha2(self, hash_length: Any) -> Expression[Any]:
        return self._call("sha2", hash_length)
