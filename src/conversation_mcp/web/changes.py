"""What a page changes: titles, tags, the archive, branches, the trash."""

from starlette.requests import Request
from starlette.responses import Response

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.ids import check_id
from conversation_mcp.stores.base import silent
from conversation_mcp.web.desk import Desk, back


class Changes:
    """Changes conversations; each change leads back to a page."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def rename(self, request: Request) -> Response:
        """Set the title; an empty one is removed."""
        fields, conversation_id = await self._desk.form(request), check_id(request.path_params["id"])
        await self._desk.app(request).tidier.update(conversation_id, title=fields.get("title", ""))
        return await self._done(request, f"/c/{conversation_id}")

    async def tag(self, request: Request) -> Response:
        """Replace the tags with those of the form, separated by commas."""
        fields, conversation_id = await self._desk.form(request), check_id(request.path_params["id"])
        tags = fields.get("tags", "").split(",")
        await self._desk.app(request).tidier.update(conversation_id, retag=lambda _: tags)
        return await self._done(request, f"/c/{conversation_id}")

    async def archive(self, request: Request) -> Response:
        """Archive the conversation, or with `undo` take it out of the archive."""
        fields, conversation_id = await self._desk.form(request), check_id(request.path_params["id"])
        await self._desk.app(request).tidier.update(conversation_id, archived="undo" not in fields)
        return await self._done(request, f"/c/{conversation_id}")

    async def branch(self, request: Request) -> Response:
        """Open a conversation with the messages up to the one of the form."""
        fields, conversation_id = await self._desk.form(request), check_id(request.path_params["id"])
        number = fields.get("message", "")
        if not (number.isascii() and number.isdecimal()):
            raise InvalidInputError("name the message to branch from by its number.")
        opened = await self._desk.app(request).tidier.branch(conversation_id, int(number))
        return await self._done(request, f"/c/{opened.conversation_id}")

    async def delete(self, request: Request) -> Response:
        """Move the conversation to the trash."""
        await self._desk.form(request)
        conversation_id = check_id(request.path_params["id"])
        await self._desk.app(request).tidier.delete(conversation_id, silent)
        return await self._done(request, f"/?deleted={conversation_id}")

    async def restore(self, request: Request) -> Response:
        """Take the conversation out of the trash."""
        await self._desk.form(request)
        conversation_id = check_id(request.path_params["id"])
        await self._desk.app(request).trash.restore(conversation_id)
        return await self._done(request, f"/c/{conversation_id}")

    async def _done(self, request: Request, path: str) -> Response:
        await self._desk.app(request).library.take_in()
        return back(path)
