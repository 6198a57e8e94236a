"""Other forms of texts and bytes: hashes, base 64, hexadecimal, URLs, character sets, internet addresses, PRINTF."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from decimal import Decimal
from typing import Any
from urllib.parse import quote_plus, unquote_plus, urlsplit

from penstock.columns.kernels.datum import Datum, Invocation, Kernel, constant, per_value
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.number_text import java_double
from penstock.columns.kernels.regular_expressions import java_regex


def hashing(algorithm: str) -> Kernel:
    return per_value(lambda text: hashlib.new(algorithm, text.encode()).hexdigest())


def _sha2(text: str, bits: int) -> str:
    if bits not in (224, 256, 384, 512):
        raise ValueFailure(f"SHA2 knows 224, 256, 384 and 512 bits, not {bits}")
    return hashlib.new(f"sha{bits}", text.encode()).hexdigest()


sha2 = per_value(_sha2)


def _from_base64(text: str) -> str:
    """Padding may be missing, anything else that is no Base64 fails, as in Java."""
    padded = text if "=" in text else text + "=" * (-len(text) % 4)
    try:
        return base64.b64decode(padded, validate=True).decode("utf-8", "replace")
    except binascii.Error as error:
        raise ValueFailure(f"FROM_BASE64: {text[:80]!r} is no Base64: {error}") from None


def _to_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


from_base64, to_base64 = per_value(_from_base64), per_value(_to_base64)


def _hex(value: Any) -> str:
    if isinstance(value, str):
        return value.encode().hex().upper()
    return format(value & 0xFFFFFFFFFFFFFFFF, "X")


def _bin(value: int) -> str:
    return format(value & 0xFFFFFFFFFFFFFFFF, "b")


def _unhex(text: str) -> bytes | None:
    """Of an odd number of digits the first one counts as a zero byte; what is no hexadecimal digit gives null."""
    if re.fullmatch(r"[0-9a-fA-F]*", text) is None:
        return None
    return binascii.unhexlify(text if len(text) % 2 == 0 else "00" + text[1:])


hex_text, bin_text, unhex = per_value(_hex), per_value(_bin), per_value(_unhex)


def _ascii(text: str) -> int:
    """The first byte; 0 for the empty text."""
    if not text:
        return 0
    byte = text.encode()[0]
    return byte - 256 if byte > 127 else byte


def _chr(number: int) -> str:
    return "" if number < 0 else chr(number & 0xFF)


ascii_code, character = per_value(_ascii), per_value(_chr)

_CHARSETS = {"UTF-16": "utf-16-be", "UTF-16BE": "utf-16-be", "UTF-16LE": "utf-16-le", "US-ASCII": "ascii"}


def _charset(name: str) -> str:
    return _CHARSETS.get(name.upper(), name.lower())


def _decode(raw: bytes, charset: str) -> str:
    if charset.upper() == "UTF-16" and raw[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return raw.decode("utf-16")
    return raw.decode(_charset(charset), "replace")


def _encode(text: str, charset: str) -> bytes:
    mark = b"\xfe\xff" if charset.upper() == "UTF-16" else b""
    return mark + text.encode(_charset(charset), "replace")


decode, encode = per_value(_decode), per_value(_encode)


def _url_encode(text: str) -> str:
    return quote_plus(text, safe="*-._").replace("~", "%7E")


def _url_decode(text: str) -> str | None:
    if re.search(r"%(?![0-9a-fA-F]{2})", text):
        return None
    return unquote_plus(text)


url_encode, url_decode = per_value(_url_encode), per_value(_url_decode)


def _parse_url(url: str, part: str, key: str | None = None) -> str | None:
    try:
        found = urlsplit(url)
    except ValueError:
        return None
    if not found.scheme:
        return None
    if key is not None:
        expression = java_regex(f"(&|^){re.escape(key)}=([^&]*)") if part == "QUERY" else None
        match = expression.search(found.query) if expression else None
        return match.group(2) if match else None
    userinfo = found.netloc.rpartition("@")[0]
    parts = {
        "HOST": found.hostname and found.netloc.rpartition("@")[2].partition(":")[0],
        "PATH": found.path,
        "QUERY": found.query or None,
        "REF": found.fragment or None,
        "PROTOCOL": found.scheme,
        "FILE": found.path + (f"?{found.query}" if found.query else ""),
        "AUTHORITY": found.netloc,
        "USERINFO": userinfo or None,
    }
    return parts.get(part)


parse_url = per_value(_parse_url)


def _inet_aton(text: str) -> int | None:
    """Also with fewer than four numbers: the last one then fills what is left."""
    parts = text.split(".")
    if not 1 <= len(parts) <= 4 or not all(part.isdigit() and part.isascii() for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    address = 0
    for number in numbers[:-1]:
        address = address * 256 + number
    return int(address * 256 ** (5 - len(numbers)) + numbers[-1])


def _inet_ntoa(number: int) -> str | None:
    if not 0 <= number <= 0xFFFFFFFF:
        return None
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


inet_aton, inet_ntoa = per_value(_inet_aton), per_value(_inet_ntoa)

_CONVERSION = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")


def _printf(form: str | None, *values: Any) -> str | None:
    """Java's String.format; null for a form that does not fit the values."""
    if form is None:
        return None
    taken = 0

    def shown(match: re.Match[str]) -> str:
        nonlocal taken
        index, flags, width, precision, kind = match.groups()
        if kind in "%n":
            return "%" if kind == "%" else "\n"
        place = int(index) - 1 if index else taken
        taken += 0 if index else 1
        return _converted(values[place], flags, width or "", precision, kind)

    try:
        text = _CONVERSION.sub(shown, form)
    except (IndexError, TypeError, ValueError):
        return None
    return text


def _converted(value: Any, flags: str, width: str, precision: str | None, kind: str) -> str:
    align = "<" if "-" in flags else ">"
    upper = kind.isupper()
    kind = kind.lower()
    if value is None or kind in "sb":
        text = _plain(value, kind)[: int(precision) if precision else None]
    elif kind in "dxo":
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(kind)
        zeros = "0" if "0" in flags else ""
        comma = "," if "," in flags else ""
        sign = "+" if "+" in flags else " " if " " in flags else ""
        text = format(value if kind == "d" or value >= 0 else value & 0xFFFFFFFF, f"{sign}{zeros}{width}{comma}{kind}")
    elif kind in "feg":
        if not isinstance(value, (float, Decimal)):
            raise TypeError(kind)
        zeros = "0" if "0" in flags else ""
        text = format(value, f"{'+' if '+' in flags else ''}{zeros}{width if zeros else ''}.{precision or 6}{kind}")
    elif kind == "c":
        text = value if isinstance(value, str) else chr(value)
    else:
        raise ValueError(kind)
    return format(text.upper() if upper else text, f"{align}{width}" if width else "")


def _plain(value: Any, kind: str) -> str:
    if kind == "b":
        return "false" if value is None or value is False else "true"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return java_double(value) if isinstance(value, float) else str(value)


printf: Kernel = per_value(_printf, nulls=True)


def type_name(call: Invocation) -> Datum:
    force = len(call.arguments) > 1 and call.arguments[1].as_py()
    argument = call.types[0]
    return constant(argument.as_serializable_string() if force else argument.as_summary_string(), call.result_type)
