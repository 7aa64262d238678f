"""The progress of work on many conversations."""


class Headway:
    """Progress, written by the thread that works and read by the one that waits, which can also stop the work."""

    def __init__(self, total: int | None = None, *, is_stopped: bool = False) -> None:
        self.total = total
        """How many conversations there are; None if they are not counted beforehand."""
        self.seen = 0
        self.is_stopped = is_stopped
