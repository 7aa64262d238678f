"""The suite's fixtures that answer at once: content of every kind, schemas, resources and prompts."""

import base64
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import AudioContent, EmbeddedResource, ImageContent, TextContent, TextResourceContents
from pydantic import Field

IMAGE = ImageContent(
    data="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
    mime_type="image/png",
)
AUDIO = AudioContent(data="UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=", mime_type="audio/wav")
FULL_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def test_simple_text() -> list[TextContent]:
    return [TextContent(text="This is a simple text response for testing.")]


def test_image_content() -> list[ImageContent]:
    return [IMAGE]


def test_audio_content() -> list[AudioContent]:
    return [AUDIO]


def test_embedded_resource() -> list[EmbeddedResource]:
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    data = embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json")
    return [TextContent(text="Multiple content types test:"), IMAGE, data]


def test_error_handling() -> str:
    message = "This tool intentionally returns an error for testing"
    raise ToolError(message)


def greet(name: str) -> list[TextContent]:
    return [TextContent(text=f"Hello, {name}!")]


def test_x_mcp_header(
    region: Annotated[str, Field(default="none", description="Where.", json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    return f"region={region}"


def json_schema_2020_12_tool() -> str:
    return "listed with FULL_SCHEMA"


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    greet,
    test_x_mcp_header,
    json_schema_2020_12_tool,
)


def static_text() -> str:
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    return base64.b64decode(IMAGE.data)


def template_data(id: str) -> dict[str, Any]:  # noqa: A002 -- the variable of the suite's template
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


def watched() -> str:
    return "Watched resource content"


RESOURCES = {
    "test://static-text": static_text,
    "test://static-binary": static_binary,
    "test://template/{id}/data": template_data,
    "test://watched-resource": watched,
}


def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 -- the suite's name
    data = embedded(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(content=data), UserMessage(content="Please process the embedded resource above.")]


def test_prompt_with_image() -> list[Message]:
    return [UserMessage(content=IMAGE), UserMessage(content="Please analyze the image above.")]


PROMPTS = (test_simple_prompt, test_prompt_with_arguments, test_prompt_with_embedded_resource, test_prompt_with_image)
