"""The kinds of what is recognized; apart, because the settings need no more than their names."""

from typing import Literal

SensitiveKind = Literal["keys", "cards", "ibans", "emails", "phones"]
