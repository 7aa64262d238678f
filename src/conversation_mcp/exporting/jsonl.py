"""JSON Lines of OpenAI messages: one conversation per line, with its answered turns as they would be sent."""

import json

from conversation_mcp.exporting.base import NO_CONTENTS, Contents, ExportFormat, Frame
from conversation_mcp.prompting.history import finished_turns
from conversation_mcp.records.models import Conversation


def render(conversation: Conversation, contents: Contents = NO_CONTENTS) -> str:
    """Return the line, which holds only roles and texts: no files, no reasoning and no unanswered questions."""
    del contents
    # Trainers of models refuse other fields.
    messages = [{"role": message.role, "content": message.content} for message in finished_turns(conversation)]
    return json.dumps({"messages": messages}, ensure_ascii=False) + "\n"


JSONL = ExportFormat("jsonl", ".jsonl", render, Frame())
