"""How far something has come that goes through many conversations."""


class Headway:
    """Noted by who does it, shown by who waits for it, who can wish that it stops."""

    def __init__(self, total: int | None = None, *, is_stopped: bool = False) -> None:
        self.total = total
        """How many conversations there are to look at; counted only when that takes long."""
        self.seen = 0
        self.is_stopped = is_stopped
