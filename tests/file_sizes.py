"""Fail when a module or a file of tests is longer than a person reads in one sitting."""

import sys
from pathlib import Path
from statistics import median

LIMIT_LINES = 300
AIM_MEDIAN_LINES = 100

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Print the files that are too long; return 1 when there is one or the median of the modules is over the aim."""
    modules, tests = sizes_below("src"), sizes_below("tests")
    code = [lines for lines in modules.values() if lines > 1]
    too_long = {path: lines for path, lines in (modules | tests).items() if lines > LIMIT_LINES}
    for path, lines in too_long.items():
        print(f"{path.relative_to(ROOT)}: {lines} lines, the limit is {LIMIT_LINES}")
    print(f"{len(code)} modules, median {median(code):.0f} lines, longest {max(code)}")
    print(f"{len(tests)} files of tests, longest {max(tests.values())}")
    return 1 if too_long or median(code) > AIM_MEDIAN_LINES else 0


def sizes_below(folder: str) -> dict[Path, int]:
    return {path: len(path.read_bytes().splitlines()) for path in sorted((ROOT / folder).rglob("*.py"))}


if __name__ == "__main__":
    sys.exit(main())
