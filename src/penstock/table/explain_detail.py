"""What an explanation of a plan can show beside the plan."""

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """Extra lines or notes of explain()."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
