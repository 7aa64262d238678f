"""Ages as people write them."""

import re
from datetime import timedelta

AGE = re.compile(r"([1-9][0-9]{0,4})([hdwy])")
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "y": timedelta(days=365)}


def age_of(text: str) -> timedelta | None:
    """Return the duration of an age such as `36h`, `90d`, `12w` or `2y`; None for anything else."""
    found = AGE.fullmatch(text)
    return int(found[1]) * UNITS[found[2]] if found else None
