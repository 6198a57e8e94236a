"""Schemas and encoders: how records become bytes outside of the job, and back."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.common.text import java_text
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.utils import JavaObjectWrapper, refuse_java_object

__all__ = [
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowDataBulkWriterFactory",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]

_PYTHON_SUBCLASS = "Write a subclass in Python, or use SimpleStringSchema or ByteArraySchema."


class SerializationSchema:
    """Turns a record into bytes for a connector; subclasses implement :meth:`serialize`."""

    def __init__(self, j_serialization_schema: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_serialization_schema", j_serialization_schema, _PYTHON_SUBCLASS)

    def serialize(self, element: Any) -> bytes:
        raise NotImplementedError(f"{type(self).__name__} must implement serialize(element) -> bytes.")

    def _serialize_all(self, elements: list[Any]) -> list[bytes]:
        """Many records at once, where a format knows how to be quicker."""
        return list(map(self.serialize, elements))


class DeserializationSchema:
    """Turns the bytes of a connector into a record; subclasses implement :meth:`deserialize`."""

    def __init__(self, j_deserialization_schema: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_deserialization_schema", j_deserialization_schema, _PYTHON_SUBCLASS)

    def deserialize(self, message: bytes) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must implement deserialize(message).")

    def get_produced_type(self) -> TypeInformation:
        """The type of the records that :meth:`deserialize` returns."""
        return Types.PICKLED_BYTE_ARRAY()

    def _deserialize_all(self, messages: list[bytes]) -> Any:
        """Many messages at once: a list, or a batch of columns, of as many records; none of them is None.

        None when they have to be read one by one, because some may be bad or give no record.
        """
        return None


class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Strings in a character set."""

    def __init__(self, charset: str = "UTF-8") -> None:
        SerializationSchema.__init__(self)
        DeserializationSchema.__init__(self)
        self._charset = _known_charset(charset)

    def serialize(self, element: Any) -> bytes:
        if not isinstance(element, str):
            raise TypeError(f"SimpleStringSchema writes str, but got {type(element).__name__}: {element!r:.100}")
        return element.encode(self._charset)

    def deserialize(self, message: bytes) -> str:
        # Java replaces bytes that are no text; it does not fail the job.
        return message.decode(self._charset, errors="replace")

    def _serialize_all(self, elements: list[Any]) -> list[bytes]:
        try:
            if self._charset == "utf-8":
                return list(map(str.encode, elements))  # half of the time that the general way takes
        except TypeError:
            pass  # some are no text: one by one it shows which
        return list(map(self.serialize, elements))

    def _deserialize_all(self, messages: list[bytes]) -> list[str]:
        try:
            if self._charset == "utf-8":
                return list(map(bytes.decode, messages))  # a third of the time that the general way takes
        except (UnicodeDecodeError, TypeError):
            pass  # something else than text, or than bytes
        return [message.decode(self._charset, "replace") for message in messages]

    def get_produced_type(self) -> TypeInformation:
        return Types.STRING()


class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Bytes as they are."""

    def __init__(self) -> None:
        SerializationSchema.__init__(self)
        DeserializationSchema.__init__(self)

    def serialize(self, element: Any) -> bytes:
        if not isinstance(element, (bytes, bytearray)):
            raise TypeError(f"ByteArraySchema writes bytes, but got {type(element).__name__}: {element!r:.100}")
        return bytes(element)

    def deserialize(self, message: bytes) -> bytes:
        return message

    def _serialize_all(self, elements: list[Any]) -> list[bytes]:
        return elements if set(map(type, elements)) == {bytes} else super()._serialize_all(elements)

    def _deserialize_all(self, messages: list[bytes]) -> list[bytes]:
        return messages

    def get_produced_type(self) -> TypeInformation:
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


_WITHOUT_MARK = ("utf-8", "ascii", "iso8859-1")  # the text of many lines is what the lines are one by one


class Encoder:
    """Writes records into a file, one after the other.

    ``encode`` is a function of one record, or of a record and its type, that returns its bytes.
    """

    def __init__(self, encode: Callable[..., bytes]) -> None:
        if not callable(encode):
            raise NotSupportedError(
                f"Encoder({encode!r}): an Encoder takes a Python function from a record to bytes;"
                " Java's encoders do not run on Penstock. Or use Encoder.simple_string_encoder()."
            )
        self._encode = encode

    def encode(self, value: Any, type_info: TypeInformation | None = None) -> bytes:
        """The bytes of one record, its line end included."""
        return self._encode(value)

    def _encode_all(self, values: list[Any]) -> bytes | None:
        """The bytes of many records at once; None when they are to be encoded one by one."""
        return None

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """One line for each record, in Java's text form: a Row becomes ``+I[tea, 2, false]``."""
        return _LineEncoder(charset_name)


class _LineEncoder(Encoder):
    """Java's text and a line feed."""

    def __init__(self, charset_name: str) -> None:
        self._charset = _known_charset(charset_name)

    def encode(self, value: Any, type_info: TypeInformation | None = None) -> bytes:
        return (java_text(value, type_info) + "\n").encode(self._charset)

    def _encode_all(self, values: list[Any]) -> bytes | None:
        if self._charset not in _WITHOUT_MARK or set(map(type, values)) != {str}:
            return None
        return "\n".join([*values, ""]).encode(self._charset)


class BulkWriterFactory(JavaObjectWrapper):
    """Makes the writers of bulk formats; the formats in penstock.datastream.formats bring their own."""

    def __init__(self, j_bulk_writer_factory: Any = None) -> None:
        refuse_java_object(
            type(self).__name__, "j_bulk_writer_factory", j_bulk_writer_factory, "Use a format's own factory."
        )
        super().__init__()


class RowDataBulkWriterFactory(BulkWriterFactory):
    """Makes the writers of bulk formats that need the type of the rows."""

    def __init__(self, j_bulk_writer_factory: Any = None, row_type: Any = None) -> None:
        super().__init__(j_bulk_writer_factory)
        self._row_type = row_type

    def get_row_type(self) -> Any:
        return self._row_type


class RowFieldExtractorSchema(SerializationSchema):
    """Writes one field of a Row, which must be bytes; None writes nothing."""

    def __init__(self, field_index: int) -> None:
        if not isinstance(field_index, int):
            raise TypeError(f"Field index must be an integer, got: {field_index!r}")
        if field_index < 0:
            raise ValueError(f"Field index must be non-negative, got: {field_index}")
        super().__init__()
        self._field_index = field_index

    def serialize(self, element: Any) -> bytes:
        value = element[self._field_index]
        if value is None:
            return b""
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError(
                f"RowFieldExtractorSchema writes bytes, but field {self._field_index} is a"
                f" {type(value).__name__}: {value!r:.100}"
            )
        return bytes(value)


def _known_charset(charset: str) -> str:
    try:
        return codecs.lookup(charset).name
    except LookupError:
        raise ValueError(f"Unknown character set {charset!r}; a common one is 'UTF-8'.") from None
