"""A stream in which a pattern is looked for, and the ways to go on from its matches."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from penstock.cep.functions import (
    Match,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    SelectAdapter,
    SelectAdapterWithTimeout,
    call_of,
)
from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.stream import DataStream
from penstock.functions.output_tag import OutputTag
from penstock.runtime.cep.settings import PARAMETER, CepSettings

__all__ = ["PatternStream"]


class PatternStream:
    """What ``CEP.pattern()`` returns: choose how time is told, then what becomes of matches.

    ::

        late, slow = OutputTag("late"), OutputTag("slow")
        alerts = CEP.pattern(stream, pattern).side_output_late_data(late).select(
            lambda match: match["end"][0], timeout_tag=slow, timeout_function=lambda match, time: time
        )
        alerts.get_side_output(slow).print()
    """

    def __init__(
        self, stream: KeyedStream, settings: CepSettings, parallel: bool, updates: DataStream | None = None
    ) -> None:
        self._stream = stream
        self._settings = settings
        self._parallel = parallel
        self._updates = updates

    def in_processing_time(self) -> Self:
        """Events are taken in the order in which they come, and their times are those of the clock."""
        return self._with(processing_time=True)

    def in_event_time(self) -> Self:
        """Events wait for the watermark and are taken in the order of their timestamps; this is the default."""
        return self._with(processing_time=False)

    def side_output_late_data(self, late_data_output_tag: OutputTag) -> Self:
        """Events that come after the watermark go to a side output instead of being dropped."""
        if not isinstance(late_data_output_tag, OutputTag):
            raise ProgramError(f"side_output_late_data() takes an OutputTag, got {late_data_output_tag!r}")
        return self._with(late_tag=late_data_output_tag.tag_id)

    def _with(self, **changes: Any) -> Self:
        changed = copy.copy(self)
        changed._settings = replace(self._settings, **changes)
        return changed

    def select(
        self,
        pattern_select_function: PatternSelectFunction | Callable[[Match], Any],
        output_type: TypeInformation | None = None,
        *,
        timeout_tag: OutputTag | None = None,
        timeout_function: PatternTimeoutFunction | Callable[[Match, int], Any] | None = None,
    ) -> DataStream:
        """One record per match; with a tag and a function, one per timed-out partial match to the side output."""
        call = call_of(pattern_select_function, PatternSelectFunction, "select", "select()")
        adapter = _adapter(
            pattern_select_function, call, False, timeout_tag, timeout_function, PatternTimeoutFunction, "select()"
        )
        return self._operator(adapter, output_type)

    def flat_select(
        self,
        pattern_flat_select_function: PatternFlatSelectFunction | Callable[[Match], Any],
        output_type: TypeInformation | None = None,
        *,
        timeout_tag: OutputTag | None = None,
        timeout_function: PatternFlatTimeoutFunction | Callable[[Match, int], Any] | None = None,
    ) -> DataStream:
        """Any number of records per match, and per timed-out partial match to the side output."""
        call = call_of(pattern_flat_select_function, PatternFlatSelectFunction, "flat_select", "flat_select()")
        adapter = _adapter(
            pattern_flat_select_function,
            call,
            True,
            timeout_tag,
            timeout_function,
            PatternFlatTimeoutFunction,
            "flat_select()",
        )
        return self._operator(adapter, output_type)

    def process(
        self, pattern_process_function: PatternProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Calls a function that sees matches with their context, and timed-out ones if it handles them."""
        if not isinstance(pattern_process_function, PatternProcessFunction):
            raise ProgramError(f"process() takes a PatternProcessFunction, got {pattern_process_function!r}")
        return self._operator(pattern_process_function, output_type)

    def _operator(self, function: PatternProcessFunction, output_type: TypeInformation | None) -> DataStream:
        if self._settings.processing_time and self._settings.late_tag is not None:
            raise ProgramError("in processing time no event is late: leave out side_output_late_data()")
        result = self._stream._transform(
            "cep",
            "CepOperator" if self._parallel else "GlobalCepOperator",
            function,
            output_type=output_type,
            params={PARAMETER: self._settings},
            other_inputs=() if self._updates is None else (self._updates,),
        )
        return result if self._parallel else result.force_non_parallel()


def _adapter(
    function: Any,
    call: Callable[..., Any],
    flat: bool,
    tag: OutputTag | None,
    timeout: Any,
    timeout_kind: type[Any],
    where: str,
) -> SelectAdapter:
    if tag is None and timeout is None:
        return SelectAdapter(function, call, flat)
    if not isinstance(tag, OutputTag) or timeout is None:
        raise ProgramError(f"{where}: timeout_tag (an OutputTag) and timeout_function are given together")
    timeout_call = call_of(timeout, timeout_kind, "timeout", where)
    return SelectAdapterWithTimeout(function, call, flat, tag, timeout, timeout_call)
