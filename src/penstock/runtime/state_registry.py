"""What the states of one operator subtask are: as the program declares them, and as their entries were saved.

The two meet in either order: user code asks for most states in open(), before entries are loaded, and for some only
while it runs, when they have long been there.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.common.errors import ProgramError
from penstock.runtime.clock import Clock
from penstock.runtime.state.table import ENTRIES_PER_PIECE, Table
from penstock.runtime.state_schema import DeclaredState, Entries, EntriesConverter, StateSchema, conversion


class StateRegistry:
    """By state name; tables are asked for and filled through it."""

    def __init__(self, owner: str, clock: Clock) -> None:
        self._owner = owner
        self._clock = clock
        self._declared: dict[str, DeclaredState] = {}
        self._held: dict[str, StateSchema] = {}  # what the entries in the tables are
        self._expected: dict[str, StateSchema] = {}
        self.converted = False  # entries changed their form: what was written of them before does not fit to deltas

    def expect(self, saved: Mapping[str, StateSchema]) -> None:
        """What a savepoint has: a state that does not fit to it is refused as soon as the program asks for it."""
        self._expected.update(saved)

    def is_declared(self, name: str) -> bool:
        return name in self._declared

    def declare(self, name: str, declared: DeclaredState, table: Table) -> None:
        """The program asks for a state; entries that are there already are brought into its form."""
        if name in self._expected:
            self._conversion(name, self._expected[name], declared)
        if name in self._held:
            self._convert_table(name, self._held[name], declared, table)
        self._declared[name] = declared
        self._held[name] = declared.schema

    def load(self, name: str, saved: StateSchema, entries: Entries, table: Table) -> None:
        """Entries of a snapshot or a savepoint come in."""
        declared = self._declared.get(name)
        if declared is not None:
            entries = self._convert(name, saved, declared, entries)
        elif self._held.setdefault(name, saved) != saved:
            raise ProgramError(
                f"the subtasks of {self._owner} have saved the state {name!r} in two forms, {self._held[name]} and "
                f"{saved}; let the function ask for it in open(), so that they can be made one"
            )
        table.apply_delta(entries)

    def loaded(self, name: str, saved: StateSchema, table: Table) -> None:
        """The table has got entries of this form by itself."""
        if name in self._declared:
            self._convert_table(name, saved, self._declared[name], table)

    def schema(self, name: str) -> StateSchema:
        return self._held[name]

    def schemas(self) -> dict[str, StateSchema]:
        return {**self._expected, **self._held}

    def _convert_table(self, name: str, saved: StateSchema, declared: DeclaredState, table: Table) -> None:
        if saved != declared.schema:
            for entries in table.pieces(ENTRIES_PER_PIECE):
                converted = self._convert(name, saved, declared, entries)
                if converted is not entries:
                    table.apply_delta(converted)

    def _convert(self, name: str, saved: StateSchema, declared: DeclaredState, entries: Entries) -> Entries:
        if saved == declared.schema:
            return entries
        self.converted = True
        convert = self._conversion(name, saved, declared)
        if convert is None:
            return entries
        try:
            return convert(entries)
        except Exception as error:
            raise self._refusal(name, saved, declared, error) from error

    def _conversion(self, name: str, saved: StateSchema, declared: DeclaredState) -> EntriesConverter | None:
        try:
            return conversion(saved, declared, self._clock)
        except Exception as error:
            raise self._refusal(name, saved, declared, error) from None

    def _refusal(self, name: str, saved: StateSchema, declared: DeclaredState, error: Exception) -> ProgramError:
        return ProgramError(
            f"the state {name!r} of {self._owner} was saved as {saved}, but the program declares it as "
            f"{declared.schema}: {error}. Declare it as it was, or give it another name (it then starts empty), or "
            "change what was saved with penstock.state_processor.SavepointWriter."
        )
