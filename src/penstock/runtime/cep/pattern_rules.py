"""What a pattern must fulfil before it can be compiled."""

from __future__ import annotations

from penstock.common.errors import ProgramError
from penstock.runtime.cep.pattern_model import Negation, PatternModel, Stage, all_stages


class MalformedPatternException(ProgramError):
    """A pattern that means nothing."""


def check(model: PatternModel) -> None:
    """Raises MalformedPatternException for what can only be seen of the whole pattern."""
    _check_names(model)
    _check_windows(model)
    _check_groups(model.stages)
    _check_greedy(model.stages)
    last = model.stages[-1]
    if last.negation is Negation.FOLLOWED_BY and model.window is None and last.gap is None:
        raise MalformedPatternException(
            f"not_followed_by({last.name!r}) is the last part of the pattern: without a time limit it could never be "
            "decided. Add within(...), or another stage after it."
        )


def _check_names(model: PatternModel) -> None:
    names = [stage.name for stage in all_stages(model.stages) if not stage.group]
    for name in names:
        if names.count(name) > 1:
            raise MalformedPatternException(
                f"two stages of the pattern have the name {name!r}; the events of a match are found by these names, so "
                "each needs its own"
            )
    wanted = model.skip.stage_name
    if wanted is not None and wanted not in names:
        raise MalformedPatternException(
            f"the skip strategy refers to the stage {wanted!r}, which the pattern does not have; "
            f"it has {', '.join(names)}"
        )


def _check_windows(model: PatternModel) -> None:
    window = model.window
    for stage in all_stages(model.stages):
        for gap in (stage.gap, stage.inner_gap):
            if window is not None and gap is not None and gap > window:
                raise MalformedPatternException(
                    f"the time between two events at {stage.name!r} ({gap} ms) is longer than that of the whole match "
                    f"({window} ms): it would never end a match. Make it shorter, or leave it out."
                )


def _check_groups(stages: tuple[Stage, ...]) -> None:
    for stage in stages:
        if not stage.group:
            continue
        _check_groups(stage.group)
        if stage.group[-1].negation is not None:
            raise MalformedPatternException(
                f"a group of stages ends with the negation {stage.group[-1].name!r}, which refers to what follows: "
                "put it after the group, or add a stage to the group"
            )
        if stage.loops and all(part.optional or part.negation for part in stage.group):
            raise MalformedPatternException(
                f"the group that begins with {stage.group[0].name!r} is repeated, but all of its stages are optional: "
                "it would match nothing any number of times. Make one of them mandatory."
            )


def _check_greedy(stages: tuple[Stage, ...]) -> None:
    for stage in stages:
        _check_greedy(stage.group)
        if stage.greedy and stage.condition is None and stage.until is None and stage is not stages[-1]:
            raise MalformedPatternException(
                f"the greedy stage {stage.name!r} has no condition, so it takes every event and what follows it could "
                "never occur: add where(...) or until(...)"
            )
