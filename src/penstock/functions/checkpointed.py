"""Functions with state of their own, beyond keys: what Flink's Java API calls CheckpointedFunction."""

from __future__ import annotations

from abc import ABC, abstractmethod

from penstock.functions.state_interfaces import OperatorStateStore

__all__ = ["CheckpointedFunction", "FunctionInitializationContext", "FunctionSnapshotContext"]


class FunctionInitializationContext(ABC):
    """What a function gets when its state is made ready."""

    @abstractmethod
    def is_restored(self) -> bool:
        """Whether there is state from a savepoint."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore:
        """Gives list, union-list and broadcast state."""


class FunctionSnapshotContext(ABC):
    """What a function gets when its state is about to be saved."""

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """The processing time of the snapshot, in milliseconds."""


class CheckpointedFunction(ABC):
    """Mix it into any function, source or sink that keeps state which belongs to no key::

        class Buffering(SinkFunction, CheckpointedFunction):
            def initialize_state(self, context):
                store = context.get_operator_state_store()
                self.saved = store.get_list_state(ListStateDescriptor("buffer", Types.STRING()))
                self.buffer = list(self.saved.get())

            def snapshot_state(self, context):
                self.saved.update(self.buffer)

    `snapshot_state` is called at the end of every epoch. When a job starts from a savepoint with another parallelism,
    the items of a list state are dealt out evenly, those of a union-list state go to every subtask.
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Called before `open()`, also when the function comes to another worker process."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Bring the state up to date: what it holds now is what a restart finds."""
