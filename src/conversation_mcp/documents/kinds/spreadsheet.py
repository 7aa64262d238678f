"""Excel workbooks as outlines: rows under the name of their sheet and the names of its columns."""

import warnings
from collections.abc import Sequence
from datetime import datetime, time
from typing import IO

from conversation_mcp.documents.kinds.archives import Archive
from conversation_mcp.documents.kinds.conversion import TooMuchError, bounded
from conversation_mcp.documents.kinds.html_rows import BETWEEN
from conversation_mcp.documents.kinds.outline import TEXT, Heading, Mark, Outline
from conversation_mcp.text import one_line, shorten

MAX_CELLS = 5_000_000
MAX_COLUMNS_CHARS = 200
PROPERTIES = "docProps/"


def xlsx(file: IO[bytes]) -> Outline:
    """Return the rows of each sheet, with the last computed values of formulas.

    Raises:
        TooMuchError: there are millions of cells.
    """
    from openpyxl import load_workbook

    lines: list[str] = []
    marks: list[Mark] = []
    numbers: list[int] = []
    left = MAX_CELLS
    with warnings.catch_warnings(action="ignore"):  # it warns about every unknown extension
        book = load_workbook(Archive(file).copy(without=PROPERTIES), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the declared dimensions may be wrong
            lines.append(sheet.title)
            marks.append(Heading(1, sheet.title))
            numbers.append(1)
            has_columns = False
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                left -= 1 + len(row)
                if left < 0:
                    raise TooMuchError
                cells = [value for value in row if value is not None]
                if not (text := row_text([shown(value) for value in row])):
                    continue
                is_columns = not has_columns and len(cells) > 1 and all(isinstance(cell, str) for cell in cells)
                has_columns = has_columns or len(cells) > 1
                lines.append(text)
                marks.append(Heading(2, shorten(text, MAX_COLUMNS_CHARS)) if is_columns else TEXT)
                numbers.append(number)
    return Outline(bounded(lines), marks, numbers=numbers, unit="row")


def row_text(cells: Sequence[str]) -> str:
    """Return the line of a row, without empty cells at either end."""
    filled = [number for number, text in enumerate(cells) if text]
    return BETWEEN.join(cells[filled[0] : filled[-1] + 1]) if filled else ""


def shown(value: object) -> str:
    """Return a value much as a sheet shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        # Excel shows fifteen digits; more would only be the inexactness of binary fractions.
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return str(value.date()) if value.time() == time() else value.isoformat(" ", "seconds")
    return one_line(str(value))
