"""JSON Lines of OpenAI messages: a conversation a line, its answered turns as they would be sent."""

import json

from conversation_mcp.exporting.base import ExportFormat, Frame
from conversation_mcp.prompting.history import finished_turns
from conversation_mcp.records.models import Conversation


def render(conversation: Conversation) -> str:
    """Return the line: roles and contents only, no reasoning, no question without an answer."""
    messages = [{"role": message.role, "content": message.content} for message in finished_turns(conversation)]
    return json.dumps({"messages": messages}, ensure_ascii=False) + "\n"


JSONL = ExportFormat("jsonl", ".jsonl", render, Frame())
