"""The interactive prompt: one conversation, a question on each line, asked in the same way as by `ask`."""

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from io import TextIOWrapper
from typing import BinaryIO, TextIO, cast

from conversation_mcp.cli.exit_codes import FAILED, INTERRUPTED
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.cli.questions.display import Display
from conversation_mcp.cli.questions.question import Conclusion, Kind, TypedQuestion, ask_and_show, stored, tool_for
from conversation_mcp.cli.questions.sent_along import NOTHING
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.settings import Settings
from conversation_mcp.tooling.steps import COMMANDS

PROMPT, MORE = "> ", "… "
MANY, MANY_END = "/multi", "/end"
ENDS = frozenset({"/quit", "/exit", "/bye", "quit", "exit"})
MODES: dict[str, Kind] = {"/search": "search", "/deep": "research", "/chat": "chat"}
MODE_WORDS: dict[Kind, str] = {
    "search": "with a quick search",
    "research": "with a thorough research",
    "chat": "without a search",
}
HELP = """\
/model NAME  ask this model from now on; without a name, as the conversation has it
/search      ask with a quick search from now on
/deep        ask with a thorough research from now on
/chat        ask a model from now on, without a search
/multi       begin a question of several lines; /end ends it
/new         begin a new conversation
/id          show the conversation's id
/quit        end; so does Ctrl-D. Ctrl-C stops a question that is being answered"""


class Chat:
    """The state of the prompt: the conversation, the mode and the model of the next question."""

    def __init__(self, settings: Settings, first: TypedQuestion) -> None:
        self._settings = settings
        self._next = first

    def opened(self) -> str:
        """Return the greeting: which conversation this is, and how to get help and leave."""
        where = f"Continuing {self._next.conversation}" if self._next.conversation else "A new conversation"
        return f"{where}; it is kept. /help shows the commands, Ctrl-D ends."

    def ask(self, text: str) -> int:
        """Ask the question, show the answer or the error, and return its exit code."""
        display = Display(streams=True)
        try:
            conclusion = ask_and_show(self._settings, replace(self._next, text=text), display=display)
        except ConversationMCPError as error:
            say(error.sentence(COMMANDS))
            conclusion = Conclusion(FAILED, display.conversation_id)
        if stored(self._settings, conclusion.conversation_id):  # none if the question was never sent
            self._next = replace(
                self._next, conversation=conclusion.conversation_id, system=None, sent=NOTHING, continue_from=None
            )
        return conclusion.code

    def obey(self, line: str) -> None:
        """Carry out a command, a line that begins with a slash."""
        name, _, value = line.partition(" ")
        value = value.strip()
        if name in MODES:
            self._set_mode(MODES[name])
        elif name == "/model":
            rest = {key: given for key, given in self._next.arguments.items() if key != "model"}
            self._next = replace(self._next, arguments={**rest, "model": value} if value else rest)
            say(f"Questions go to {value}." if value else "Questions go where the conversation's last one went.")
        elif name == "/new":
            self._next = replace(self._next, conversation=None)
            say("The next question opens a new conversation.")
        elif name == "/id":
            put(self._next.conversation or "(no question was asked yet)")
        elif name in ("/help", "/?"):
            put(HELP)
        else:
            say(f"There is no command {name}; /help lists them. To ask this as a question, begin with a space.")

    def _set_mode(self, kind: Kind) -> None:
        asked = replace(self._next, kind=kind)
        fields = tool_for(asked).input_model.model_fields
        kept = {name: value for name, value in asked.arguments.items() if name in fields}  # tools differ in options
        self._next = replace(asked, arguments=kept)
        say(f"Questions are asked {MODE_WORDS[kind]} from now on.")


def chat_until_left(settings: Settings, first: TypedQuestion, read: Callable[[str], str | None] | None = None) -> int:
    """Ask each line that is typed until the user leaves; return the exit code.

    Args:
        settings: the settings of every question.
        first: the mode and options of questions, and the first question if its text is not empty.
        read: shows a prompt and returns a line, None at the end of the input.
    """
    read, chat = read or _prepared_reader(), Chat(settings, first)
    if sys.stdin.isatty():
        say(chat.opened())
    code = chat.ask(first.text) if first.text else 0
    while not _is_ended(code):
        try:
            line = read(PROMPT)
            if line is None or line.strip() in ENDS:
                return 0 if sys.stdin.isatty() else code  # a script wants to know how the last question ended
            if line.strip() == MANY:
                code = chat.ask("\n".join(_lines(read)))
            elif line.startswith("/"):
                chat.obey(line.strip())
            elif line.strip():
                code = chat.ask(line.strip())
        except KeyboardInterrupt:  # at the prompt; while a question runs, its `interrupts` handles Ctrl-C
            say("\nCtrl-D ends.")
    return code


def _is_ended(code: int) -> bool:
    """Tell whether a signal other than Ctrl-C, which only stops a question, ended the program."""
    return code > INTERRUPTED


def _lines(read: Callable[[str], str | None]) -> Iterable[str]:
    while (line := read(MORE)) is not None and line.strip() != MANY_END:
        yield line


def _prepared_reader() -> Callable[[str], str | None]:
    """Return a function that reads a line of stdin, on a terminal with line editing and history."""
    stdin: TextIO = sys.stdin
    if isinstance(stdin, TextIOWrapper):
        cast("TextIOWrapper[BinaryIO]", stdin).reconfigure(errors="replace")
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        with suppress(ImportError):  # Windows and some builds of Python lack it
            import_module("readline")  # once imported, input() uses it

    def read(prompt: str) -> str | None:
        try:
            return input(prompt if is_terminal else "").lstrip("\ufeff")  # pipes of Windows may begin with the mark
        except EOFError:
            if is_terminal:
                say("")
            return None

    return read
