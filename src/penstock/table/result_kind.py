"""What a statement gave."""

__all__ = ["ResultKind"]


class ResultKind:
    """Whether there are rows to look at."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1
