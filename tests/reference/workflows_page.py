"""docs/workflows.md: the workflows that are shipped, and everything that a definition can say."""

from collections.abc import Iterator
from pathlib import Path

from tests.reference.markdown import MADE_BY, code, document, table
from tests.reference.records import Model, fields_of, records_in, summary_of

from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.library import MAX_FILES, SHIPPED, Workflows
from conversation_mcp.workflows.outcome import MEANINGS
from conversation_mcp.workflows.reader import MAX_BYTES

INTRODUCTION = """\
A workflow lets an agent work in steps. Each step is checked before it is kept in the conversation, the answer to it says
what to do next, and at the end another model may judge the work. Each workflow is a file; none has code of its own.
`conversation-mcp workflows` lists them, `conversation-mcp workflows show debug` shows one, and with `--raw` its file."""

STEPS = """\
A step must be the next one: its number is that of the last step and one. An earlier step is not sent again; a new one
names it in `revises` and takes its place. A step on a `branch` belongs to another way of doing things; the first one on it
says at which step it begins, in `branchFrom`. The total of steps may grow, which the answer says, and is never less than
the number of the step. Findings that an earlier step had are refused, because they are no new evidence. The last step once
more, as after a lost answer, is taken for the same and not stored twice. Every refusal says what to send instead.

At the end, the answer says whether another model is asked, and why not. That model gets the prompt of the workflow as its
system message, the conversation, and one message with the sections below. It may end its answer with a line of JSON such
as `{"outcome": "needs_files", "needs": ["src/tree.py"]}`; the answer itself is kept whole.

An agent takes steps with the tool `consult` (set `consult`), which knows every workflow, or with the tool of the workflow's
own name (set `workflows`); each is a prompt, too. Files are read when a step names them, and what cannot be sent is
refused; their contents go to the model at the end. `git` or `git:staged` among them stands for a change. Without a
`conversationId`, step 1 opens a conversation. Any stored conversation can have runs, and any tool follows up there. The
last step once more fetches the answer, also after a crash; no model is asked twice for one run. A template returns its
text at once, asks nobody and stores nothing.

`conversation-mcp consult codereview -f src "Is it safe?"` needs no agent: the request and the files are the only step,
`min_steps` does not count, and the model judges them. Without `-f`, codereview and precommit take the change of the
repository around the working folder."""

OWN = """\
Put a file `NAME.md` into the folder `workflows` beside the configuration file, or into the one that
`CONVERSATION_MCP_WORKFLOWS_DIR` names. The name has lower-case letters, digits, `-` and `_`. A file with the name of a
shipped workflow takes its place. The file begins with TOML between two lines of `+++`; what follows is the prompt. A file
has at most SIZE KiB, and at most COUNT files are read. A file includes no other file. One that is not valid is listed with
what is wrong with it, and does not affect the others.

`conversation-mcp workflows check FILE` names each mistake with its line and field. If there is none, it goes through a
made-up run from the first step to the end, and one for each choice of an option, and shows what the answers would say. No
model is asked."""

EXAMPLE = """\
+++
summary = "Check the text of a release before it is published."
needs = ["files"]
min_steps = 2
severity_filter = "least"

[[options]]
name = "audience"
about = "Who reads it."
choices = ["users", "developers"]
default = "users"

[[options]]
name = "least"
about = "The least severity of the issues that are returned."
choices = ["critical", "high", "medium", "low"]
default = "low"

[[guidance]]
when = { max_step = 1 }
say = "Compare each sentence with the change that it tells of. The next step lists what is wrong or missing."

[[guidance]]
when = { options = { audience = ["developers"] } }
say = "Look for changes that break the code of others, and report each that the text does not name."

[[guidance]]
say = "Read it as somebody who knows only the last release. Report what this reader would not understand."

[validation]
ask = "at_end"
effort = "medium"
outcomes = ["needs_files"]
evidence = [{ min_findings = 2 }]

[[validation.skip]]
when = { confidence = ["certain"] }
why = "the last step is certain"
+++
You edit the text of a release. Name what is wrong, missing or unclear, most important first, and give the sentence that
should stand there instead. Do not praise.
"""


def workflows_page() -> str:
    """Return the page."""
    shipped = (Workflows(Path()).find(name) for name in SHIPPED)
    return document(
        "# Workflows",
        MADE_BY,
        INTRODUCTION,
        table(("workflow", "what for"), ((code(each.name), each.summary) for each in shipped)),
        "## Steps",
        STEPS,
        table(("outcome", "meaning"), ((code(name), f"{words}.") for name, words in MEANINGS.items())),
        "## Your own",
        OWN.replace("SIZE", str(MAX_BYTES // 1024)).replace("COUNT", str(MAX_FILES)),
        f"```text\n{EXAMPLE}```",
        "## What a file can say",
        "A field that is not named here is an error. In a table of the type When, everything that is given must hold.",
        *(part for record in records_in(Workflow).values() for part in _record(record)),
    )


def _record(record: Model) -> Iterator[str]:
    yield f"### {record.__name__}"
    yield summary_of(record)
    fields = (field for field in fields_of(record) if (record, field.name) not in FROM_THE_FILE)
    yield table(
        ("field", "value", "", "meaning"),
        ((code(field.name), field.type, "required" if field.always else "", field.words) for field in fields),
    )


FROM_THE_FILE = frozenset({(Workflow, "name"), (Workflow, "prompt")})
