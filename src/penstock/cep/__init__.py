"""Complex event processing: finds patterns of events in streams, with the semantics of Flink's CEP library.

::

    from penstock.cep import CEP, Pattern

    pattern = (
        Pattern.begin("small").where(lambda charge: charge.amount < 1)
        .next("large").where(lambda charge: charge.amount > 500)
        .within(Time.minutes(1))
    )
    alerts = CEP.pattern(charges.key_by(lambda charge: charge.card), pattern).select(
        lambda match: (match["small"][0], match["large"][0])
    )
"""

from penstock.cep.cep import CEP
from penstock.cep.functions import (
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from penstock.cep.pattern import GroupPattern, Pattern
from penstock.cep.pattern_stream import PatternStream
from penstock.runtime.cep.conditions import ColumnCondition, ConditionContext, IterativeCondition, SimpleCondition
from penstock.runtime.cep.pattern_model import WithinType
from penstock.runtime.cep.pattern_rules import MalformedPatternException
from penstock.runtime.cep.pattern_update import PatternUpdate
from penstock.runtime.cep.skip_strategy import AfterMatchSkipStrategy

__all__ = [
    "CEP",
    "AfterMatchSkipStrategy",
    "ColumnCondition",
    "ConditionContext",
    "GroupPattern",
    "IterativeCondition",
    "MalformedPatternException",
    "Pattern",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternStream",
    "PatternTimeoutFunction",
    "PatternUpdate",
    "SimpleCondition",
    "TimedOutPartialMatchHandler",
    "WithinType",
]
