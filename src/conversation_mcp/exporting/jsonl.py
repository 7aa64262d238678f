"""JSON Lines of OpenAI messages: one conversation per line, with its answered turns as they would be sent."""

import json

from conversation_mcp.exporting.base import ExportFormat, Frame
from conversation_mcp.prompting.history import finished_turns
from conversation_mcp.records.models import Conversation


def render(conversation: Conversation) -> str:
    """Return the line, which holds only roles and contents: no reasoning and no unanswered questions."""
    messages = [{"role": message.role, "content": message.content} for message in finished_turns(conversation)]
    return json.dumps({"messages": messages}, ensure_ascii=False) + "\n"


JSONL = ExportFormat("jsonl", ".jsonl", render, Frame())
