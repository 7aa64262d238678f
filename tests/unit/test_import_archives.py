"""Archives that are cut, that lie, or that are made to do harm."""

import stat
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, name_of, stored_in
from tests.fixtures.exports.sites import chatgpt_entry
from tests.fixtures.odd_exports import GOOD, PING, as_json, reasons

from conversation_mcp.errors import InvalidInputError


def zip_with(path: Path, name: str | zipfile.ZipInfo, data: bytes) -> Path:
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "name",
    ["../evil.json", "/etc/evil.json", "a/../../evil.json", "..\\evil.json", "C:\\evil.json", "\\\\host\\evil.json"],
)
async def test_a_member_whose_name_leads_out_is_not_read(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    archive = zip_with(zip_with(inside / "x.zip", "conversations.json", as_json([GOOD])), name, as_json([GOOD]))
    report = await bring_in(archive, inside)
    assert report.counts == {"imported": 1, "problem": 1}
    assert "has a name that leads out of the archive" in reasons(report)[0]
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


async def test_a_link_in_an_archive_or_a_folder_is_not_followed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("conversations-1.json")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    archive = zip_with(zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD])), link, b"/etc/passwd")
    assert reasons(await bring_in(archive, tmp_path)) == ["conversations-1.json: is a symbolic link"]
    folder = tmp_path / "folder"
    folder.mkdir()
    put_json(folder / "conversations.json", [GOOD])
    (folder / "loop").symlink_to(folder)
    (folder / "other.json").symlink_to("/etc/passwd")
    report = await bring_in(folder, tmp_path)
    assert sorted(reasons(report)) == [
        f"{name}: is a symbolic link, which is not followed" for name in ("loop", "other.json")
    ]


@pytest.mark.slow
async def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    with (
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("conversations.json", "w", force_zip64=True) as member,
    ):
        for _ in range(300):
            member.write(b"[" + b" " * (1 << 20))
    zip_with(archive, "conversations-1.json", as_json([GOOD]))
    report = await bring_in(archive, tmp_path)
    assert report.counts == {"imported": 1, "problem": 1}
    assert "times its size, as bombs do" in reasons(report)[0]


async def test_a_member_that_lies_about_its_size_yields_no_more_than_it_said(tmp_path: Path) -> None:
    archive = zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD]) + b" " * 5000)
    data = archive.read_bytes()
    size = len(as_json([GOOD])) + 5000
    archive.write_bytes(data.replace(size.to_bytes(4, "little"), (size - 4000).to_bytes(4, "little")))
    with pytest.raises(InvalidInputError, match="cannot be read: "):
        await bring_in(archive, tmp_path)


async def test_archives_that_are_cut_encrypted_or_hold_archives(tmp_path: Path) -> None:
    archive = zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD]))
    data = archive.read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(data[:-30])
    with pytest.raises(InvalidInputError, match="nothing to import was found"):
        await bring_in(cut, tmp_path)
    encrypted = tmp_path / "encrypted.zip"
    encrypted.write_bytes(data.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"))
    with pytest.raises(InvalidInputError, match="is encrypted"):
        await bring_in(encrypted, tmp_path)
    with pytest.raises(InvalidInputError, match="is an archive in an archive; unpack the outer one"):
        await bring_in(zip_with(tmp_path / "outer.zip", "inner.zip", data), tmp_path)


@pytest.mark.slow
async def test_the_work_on_an_archive_grows_as_its_members_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()

    class CountedArchive(zipfile.ZipFile):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            read["entries of directories"] += len(self.infolist())

    monkeypatch.setattr(zipfile, "ZipFile", CountedArchive)
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for number in range(200):
            packed.writestr(f"conversations-{number:03}.json", as_json([GOOD | {"conversation_id": str(number)}]))
    read.clear()
    assert (await bring_in(archive, tmp_path)).counts == {"imported": 200}
    assert read["entries of directories"] == 200


async def test_two_members_of_one_name_are_told_and_the_last_is_read(tmp_path: Path) -> None:
    archive = zip_with(tmp_path / "x.zip", "conversations.json", as_json([GOOD]))
    with pytest.warns(UserWarning, match="Duplicate name"):
        zip_with(archive, "conversations.json", as_json([chatgpt_entry("last", *PING)]))
    report = await bring_in(archive, tmp_path)
    assert report.counts == {"problem": 1, "imported": 1}
    assert name_of((await stored_in(tmp_path))[0]) == "Title of last"


async def test_an_archive_of_another_kind_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    put_json(folder / "conversations.json", [GOOD])
    (folder / "conversations-1.tar.gz").write_bytes(b"\x1f\x8b")
    report = await bring_in(folder, tmp_path)
    assert report.counts == {"imported": 1, "problem": 1}
    assert reasons(report) == ["conversations-1.tar.gz: is an archive of a kind that is not read; unpack it"]
    with pytest.raises(InvalidInputError, match="unpack it"):
        await bring_in(folder / "conversations-1.tar.gz", tmp_path)
