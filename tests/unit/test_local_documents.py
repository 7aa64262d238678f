import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.fixtures.documents import written

from conversation_mcp.errors import ProviderNotConfiguredError
from conversation_mcp.providers.local.documents import MAX_FILE_BYTES, Documents

needs_posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and owners as POSIX has them")

READ_AS_NOBODY = """
import os, sys
from pathlib import Path
from conversation_mcp.providers.local.documents import Documents
b"loaded".decode("utf-8-sig")
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
documents = Documents([Path(sys.argv[1])], None)
print([documents.read(path) for path in documents.paths], documents.skipped_sentence())
"""


def names_of(documents: Documents, folder: Path) -> list[str]:
    return [path.relative_to(folder.resolve()).as_posix() for path in documents.paths]


def test_text_files_of_a_folder_are_found_below_it_in_order(tmp_path: Path) -> None:
    names = ["b.md", "a/z.TXT", "a/b/c.rst", "c.markdown", "d.text", "a.md", "e.pdf", "README", "f.py"]
    folder = written(tmp_path, dict.fromkeys(names, "x"))

    assert names_of(Documents([folder], None), folder) == [
        "a/b/c.rst", "a/z.TXT", "a.md", "b.md", "c.markdown", "d.text",
    ]  # fmt: skip


def test_files_come_in_the_order_they_were_named_and_once(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.md": "a", "b/c.md": "c", "LICENSE": "l"})
    named = [folder / "LICENSE", folder / "b", folder / "b" / ".." / "a.md", folder]

    assert names_of(Documents(named, None), folder) == ["LICENSE", "b/c.md", "a.md"]


def test_hidden_files_and_folders_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    folder = written(tmp_path, {".a.md": "x", ".git/b.md": "x", "c.md": "x"})
    documents = Documents([folder], None)

    assert names_of(documents, folder) == ["c.md"]
    assert documents.skipped == {"hidden": 2}
    assert documents.skipped_sentence() == ""
    assert names_of(Documents([folder / ".a.md", folder / ".git"], None), folder) == [".a.md", ".git/b.md"]


@needs_posix
def test_links_that_lead_out_are_left_out_and_those_within_are_read_once(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"secret.md": "x"})
    folder = written(tmp_path / "docs", {"z.md": "x", "sub/b.md": "x"})
    (folder / "a.md").symlink_to(folder / "z.md")
    (folder / "loop").symlink_to(folder)
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "out").symlink_to(outside)
    (folder / "gone.md").symlink_to(folder / "nowhere")
    documents = Documents([folder], None)

    assert names_of(documents, folder) == ["z.md", "sub/b.md"]
    assert (
        documents.skipped_sentence() == "Some of the named files were not read: 2 linked from elsewhere, 1 unreadable."
    )


@needs_posix
def test_a_pipe_in_a_folder_is_no_document(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    assert Documents([tmp_path], None).paths == []
    with pytest.raises(ProviderNotConfiguredError, match="neither a file nor a folder"):
        Documents([tmp_path / "pipe.md"], None)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"\xef\xbb\xbf# T", "# T", id="BOM"),
        pytest.param(b"caf\xe9", "caf\ufffd", id="not UTF-8"),
        pytest.param(b"", "", id="empty"),
        pytest.param(b"x" * MAX_FILE_BYTES, "x" * MAX_FILE_BYTES, id="the largest"),
    ],
)
def test_text_is_read_whatever_wrote_it(tmp_path: Path, data: bytes, text: str) -> None:
    documents = Documents([written(tmp_path, {"a.md": data})], None)

    assert documents.read(documents.paths[0]) == text
    assert not documents.skipped


@pytest.mark.parametrize(("data", "reason"), [(b"a\0b", "binary"), (b"x" * (MAX_FILE_BYTES + 1), "over 5 MiB")])
def test_what_is_no_document_is_counted(tmp_path: Path, data: bytes, reason: str) -> None:
    documents = Documents([written(tmp_path, {"a.md": data})], None)

    assert documents.read(documents.paths[0]) is None
    assert documents.skipped == {reason: 1}


def test_a_file_that_vanishes_before_it_is_read_is_counted(tmp_path: Path) -> None:
    documents = Documents([written(tmp_path, {"a.md": "x"})], None)
    (tmp_path / "a.md").unlink()

    assert documents.read(documents.paths[0]) is None
    assert str(documents.nothing_to_read()).startswith("no text or Markdown file that can be read in ")
    assert documents.skipped_sentence() == "Some of the named files were not read: 1 unreadable."


@needs_posix
def test_what_may_not_be_read_is_counted_and_the_rest_is_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = written(Path(name), {"a.md": "mine", "b.md": "x", "closed/c.md": "x", "listed/sub/d.md": "x"})
        for path, mode in ((folder, 0o755), (folder / "b.md", 0), (folder / "closed", 0), (folder / "listed", 0o744)):
            path.chmod(mode)
        command = [sys.executable, "-c", READ_AS_NOBODY, name]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (folder / "closed").chmod(0o700)
        (folder / "listed").chmod(0o700)

    assert shown == "['mine', None] Some of the named files were not read: 3 unreadable.\n"


@pytest.mark.parametrize("named", ["/", "~", "~/..", "~/docs/.."])
def test_the_whole_disk_and_the_home_folder_are_refused(tmp_path: Path, named: str) -> None:
    home = written(tmp_path / "home", {"docs/a.md": "x"})
    path = Path(named.replace("~", str(home)))

    with pytest.raises(ProviderNotConfiguredError, match=r"is the whole disk|holds your whole home folder") as raised:
        Documents([home / "docs", path], home)
    assert str(path) in raised.value.message
    assert len(Documents([home / "docs"], home).paths) == 1


@needs_posix
def test_a_link_to_the_whole_disk_is_refused_even_without_a_home_folder(tmp_path: Path) -> None:
    (tmp_path / "all").symlink_to("/")

    with pytest.raises(ProviderNotConfiguredError, match="is the whole disk"):
        Documents([tmp_path / "all"], None)


@pytest.mark.parametrize("name", ["nowhere", "a.md/b", "nul\0", "x" * 5000])
def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path, {"a.md": "x"})

    with pytest.raises(ProviderNotConfiguredError, match="does not exist or cannot be reached"):
        Documents([folder, folder / name], None)
