"""Archives of XML, read within bounds and without entities, so that hostile files cannot exhaust memory."""

import posixpath
import zipfile
from io import BytesIO
from typing import IO
from urllib.parse import unquote
from xml.etree import ElementTree as ET
from xml.parsers import expat

from conversation_mcp.documents.kinds.conversion import MAX_CHARS, ConversionError, TooMuchError

XML = (".xml", ".rels")
RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class Archive:
    """An archive of which only a bounded amount is ever unpacked."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file)
        self._left = MAX_CHARS
        self.names = frozenset(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """Return a part.

        Raises:
            KeyError: there is no such part.
            TooMuchError: more was read in total than is allowed.
        """
        with self._zip.open(name) as part:
            data = part.read(self._left + 1)  # what the archive says of its size may be a lie
        self._left -= len(data)
        if self._left < 0:
            raise TooMuchError
        return data

    def xml(self, name: str) -> ET.Element:
        """Return the root element of a part. Raises the errors of `read` and `xml_of`."""
        return xml_of(self.read(name))

    def targets(self, name: str) -> dict[str, str]:
        """Return the parts that a part of an Office file refers to, by id; none if its relationships are missing."""
        folder, file = posixpath.split(name)
        try:
            root = self.xml(f"{folder}/_rels/{file}.rels")
        except (KeyError, ET.ParseError):
            return {}
        return {
            relation.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            for relation in root.iter(RELATIONS)
            if (target := unquote(relation.get("Target", ""))) and relation.get("TargetMode") != "External"
        }

    def copy(self, *, without: str) -> IO[bytes]:
        """Return a bounded copy of the XML parts for a converter without bounds, without names that begin so.

        Raises the errors of `read` and `xml_of`.
        """
        copy = BytesIO()
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as archive:
            for name in self._zip.namelist():
                if name.lower().endswith(XML) and not name.startswith(without):
                    data = self.read(name)
                    _refuse_entities(data)
                    archive.writestr(name, data)
        copy.seek(0)
        return copy


def xml_of(data: bytes) -> ET.Element:
    """Return the root element of XML.

    Raises:
        ConversionError: it declares entities, which no document needs and which can expand exponentially.
        ParseError: it is not XML.
    """
    _refuse_entities(data)
    return ET.fromstring(data)  # noqa: S314 -- entities were refused


def local_name(element: ET.Element) -> str:
    """Return the name without its namespace, which differs between the versions of a format."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance] -- comments


def attribute(element: ET.Element, name: str) -> str:
    """Return an attribute by its name without namespace; empty if it is missing."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _refuse_entities(data: bytes) -> None:
    def refuse(*_: object) -> None:
        raise ConversionError

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)  # noqa: FBT003 -- takes no names
    except expat.ExpatError as error:
        raise ET.ParseError(str(error)) from error
