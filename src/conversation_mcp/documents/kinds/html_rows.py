"""Rows of HTML tables: the cells of a row become one line, unless the table is only there for layout."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from conversation_mcp.documents.kinds.outline import BLANK, CODE, TEXT, Heading, Mark

BETWEEN = " | "
MAX_ROW_CHARS = 1_200
MAX_DEPTH = 8
# The limit of HTML itself.
MAX_SPAN = 1_000
MAX_REPEATED_CHARS = 120
MAX_REPEATED_CELLS = 8


@dataclass(frozen=True)
class Block:
    """A line of text, its kind, and its place in the file; `is_inner` if it comes from a table within a cell."""

    text: str
    mark: Mark
    number: int
    is_inner: bool = False


@dataclass
class _Cell:
    columns: int
    rows: int
    blocks: list[Block] = field(default_factory=list[Block])

    @property
    def text(self) -> str:
        return " ".join(block.text for block in self.blocks if block.text and not block.is_inner)

    @property
    def is_laid_out(self) -> bool:
        """Whether it is part of a page layout rather than a value: it holds headings with text, or listings."""
        own = [block for block in self.blocks if block.mark != BLANK and not block.is_inner]
        listings = sum(block.mark == CODE for block in own)
        return listings > 1 or (len(own) > 1 and any(isinstance(block.mark, Heading) for block in own))


@dataclass
class _HtmlTable:
    cells: list[_Cell] = field(default_factory=list[_Cell])
    is_in_cell: bool = False
    repeated: dict[int, tuple[int, str]] = field(default_factory=dict[int, tuple[int, str]])
    """By column: how many more rows a cell spans, and its text."""


class Rows:
    """Collects the blocks in cells of open tables, and passes on all others at once."""

    def __init__(self, put: Callable[[Block], None]) -> None:
        self._put_below = put
        self._tables: list[_HtmlTable] = []
        self._too_deep = 0

    def put(self, block: Block) -> None:
        """Add a block to the open cell, or pass it on; text between two rows ends the first."""
        if self._tables and not self._tables[-1].is_in_cell and block.mark != BLANK:
            self.close_row()
        self._put_in(len(self._tables), block)

    def open_table(self) -> None:
        """Begin a table, possibly in a cell of another one."""
        if len(self._tables) < MAX_DEPTH:
            self._tables.append(_HtmlTable())
        else:
            self._too_deep += 1

    def close_table(self) -> None:
        """End the innermost table."""
        if self._too_deep:
            self._too_deep -= 1
        elif self._tables:
            self.close_row()
            self._tables.pop()

    def close_all(self) -> None:
        """End tables that were never closed."""
        self._too_deep = 0
        while self._tables:
            self.close_table()

    def open_cell(self, attributes: Mapping[str, str | None]) -> None:
        """Begin a cell, and a table if its tag was forgotten."""
        if not self._tables:
            self.open_table()
        table = self._tables[-1]
        table.cells.append(_Cell(_span(attributes.get("colspan")), _span(attributes.get("rowspan"))))
        table.is_in_cell = True

    def close_cell(self) -> None:
        """End the open cell."""
        if self._tables:
            self._tables[-1].is_in_cell = False

    def close_row(self) -> None:
        """End a row: pass on its line, or its blocks if the row lays out a page."""
        if not self._tables:
            return
        table = self._tables[-1]
        cells, table.cells, table.is_in_cell = table.cells, [], False
        if not cells:
            return
        for block in _row(cells, list(_texts(cells, table.repeated))):
            self._put_in(len(self._tables) - 1, block)

    def _put_in(self, depth: int, block: Block) -> None:
        for number in range(depth - 1, -1, -1):
            table = self._tables[number]
            if table.is_in_cell:
                blocks = table.cells[-1].blocks
                if block.mark != BLANK or (blocks and blocks[-1].mark != BLANK):
                    is_inner = number < len(self._tables) - 1 and not block.is_inner
                    blocks.append(replace(block, is_inner=True) if is_inner else block)
                return
        self._put_below(block)


def _row(cells: list[_Cell], texts: list[str]) -> Iterator[Block]:
    blocks = [block for cell in cells for block in cell.blocks]
    own = [block for block in blocks if not block.is_inner and block.mark != BLANK]
    line = BETWEEN.join(texts)
    is_data = sum(map(bool, texts)) > 1 and len(line) <= MAX_ROW_CHARS and not any(cell.is_laid_out for cell in cells)
    if not is_data or not own:
        yield from blocks
    else:
        yield Block(_trimmed(texts), TEXT, own[0].number)
        yield Block("", BLANK, own[0].number)
        yield from (block for block in blocks if block.is_inner)
    yield Block("", BLANK, blocks[-1].number if blocks else 0)


def _texts(cells: list[_Cell], repeated: dict[int, tuple[int, str]]) -> Iterator[str]:
    """Yield the texts of a row by column, with those of cells above that span it."""
    column, left = 0, MAX_REPEATED_CELLS
    waiting = deque(cells)
    has_text = any(cell.text for cell in cells)
    while waiting or any(at >= column for at in repeated):
        if column in repeated:
            rows, text = repeated.pop(column)
            if rows > 1:
                repeated[column] = rows - 1, text
            left -= 1
            yield text if has_text and left >= 0 else ""
            column += 1
        elif waiting:
            cell = waiting.popleft()
            yield cell.text
            if cell.rows > 1 and len(cell.text) <= MAX_REPEATED_CHARS and len(repeated) < MAX_REPEATED_CELLS:
                repeated[column] = cell.rows - 1, cell.text
            column += cell.columns
        else:
            column = min(at for at in repeated if at >= column)


def _trimmed(texts: list[str]) -> str:
    filled = [number for number, text in enumerate(texts) if text]
    return BETWEEN.join(texts[filled[0] : filled[-1] + 1])


def _span(value: str | None) -> int:
    return min(int(value), MAX_SPAN) if value and value.isdecimal() and value.isascii() and int(value) else 1
