"""Fail when a module is longer than a person reads in one sitting."""

import sys
from pathlib import Path
from statistics import median

LIMIT_LINES = 300
AIM_MEDIAN_LINES = 100

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Print the longest modules; return 1 when one is over the limit or the median over the aim."""
    sizes = {path: len(path.read_bytes().splitlines()) for path in sorted((ROOT / "src").rglob("*.py"))}
    code = [lines for lines in sizes.values() if lines > 1]
    too_long = {path: lines for path, lines in sizes.items() if lines > LIMIT_LINES}
    for path, lines in too_long.items():
        print(f"{path.relative_to(ROOT)}: {lines} lines, the limit is {LIMIT_LINES}")
    print(f"{len(code)} modules, median {median(code):.0f} lines, longest {max(code)}")
    return 1 if too_long or median(code) > AIM_MEDIAN_LINES else 0


if __name__ == "__main__":
    sys.exit(main())
