"""Which files are read, and what is left out for which reason."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.fixtures.documents import written

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.skips import Reason
from conversation_mcp.documents.walk import Documents
from conversation_mcp.errors import ProviderNotConfiguredError

needs_posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and owners as POSIX has them")

READ_AS_NOBODY = """
import os, sys
from pathlib import Path
from conversation_mcp.documents.walk import Documents
from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.reader import read
formats = Formats()
b"loaded".decode("utf-8-sig")
documents = Documents(roots_of([Path(sys.argv[1])], None), formats)
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
print([getattr(read(document, formats), "value", document.shown) for document in documents], documents.skipped.counts)
"""


def documents_of(*named: Path, home: Path | None = None, formats: Formats | None = None) -> Documents:
    return Documents(roots_of(named, home), formats or Formats())


def names_of(documents: Documents, folder: Path) -> list[str]:
    paths = dict.fromkeys(document.path for document in documents)
    return [Path(path).relative_to(folder.resolve()).as_posix() for path in paths]


def left_out(documents: Documents, folder: Path) -> dict[Reason, list[str]]:
    names_of(documents, folder)
    examples = documents.skipped.examples.items()
    return {
        reason: [Path(name).relative_to(folder.resolve()).as_posix() for name in names] for reason, names in examples
    }


def test_files_of_known_kinds_are_found_below_a_folder_in_order(tmp_path: Path) -> None:
    names = ["b.md", "a/z.TXT", "a/b/c.rst", "c.adoc", "d.py", "a.ipynb", "e.pdf", "README", "f.exe", "g.html", "h.csv"]
    folder = written(tmp_path, dict.fromkeys(names, "x"))
    documents = documents_of(folder)

    assert names_of(documents, folder) == [
        "README", "a.ipynb", "b.md", "c.adoc", "d.py", "e.pdf", "g.html", "h.csv", "a/z.TXT", "a/b/c.rst",
    ]  # fmt: skip
    assert documents.skipped.counts == {Reason.OTHER: 1}
    assert documents.skipped.sentence() == ""


def test_files_come_in_the_order_they_were_named_and_once(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.md": "a", "b/c.md": "c", "LICENSE.x": "l"})
    named = [folder / "LICENSE.x", folder / "b", folder / "b" / ".." / "a.md", folder]

    assert names_of(documents_of(*named), folder) == ["LICENSE.x", "b/c.md", "a.md"]


def test_a_pattern_names_what_it_matches(tmp_path: Path) -> None:
    names = ["a.md", "b.txt", "docs/c.md", "docs/deep/d.md", "docs/deep/e.txt", "docs/[x].md"]
    folder = written(tmp_path, dict.fromkeys(names, "x"))

    assert names_of(documents_of(folder / "*.md"), folder) == ["a.md"]
    assert names_of(documents_of(folder / "docs/**/*.md"), folder) == ["docs/[x].md", "docs/c.md", "docs/deep/d.md"]
    assert names_of(documents_of(folder / "docs/*/e.*"), folder) == ["docs/deep/e.txt"]
    assert names_of(documents_of(folder / "docs/[x].md"), folder) == ["docs/[x].md"]
    assert names_of(documents_of(folder / "docs/[c-d].md"), folder) == ["docs/c.md"]


def test_hidden_files_and_folders_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    folder = written(tmp_path, {".a.md": "x", ".git/b.md": "x", "c.md": "x"})
    documents = documents_of(folder)

    assert names_of(documents, folder) == ["c.md"]
    assert documents.skipped.counts == {Reason.HIDDEN: 2}
    assert documents.skipped.sentence() == ""
    assert names_of(documents_of(folder / ".a.md", folder / ".git"), folder) == [".a.md", ".git/b.md"]


def test_what_git_ignores_is_left_out_as_git_does_it(tmp_path: Path) -> None:
    names = [
        "a.md",
        "build/b.md",
        "deep/build/c.md",
        "deep/keep.log.md",
        "deep/x.log.md",
        "deep/only/d.md",
        "notes/e.md",
    ]
    folder = written(tmp_path / "repo", dict.fromkeys(names, "x"))
    rules = {".gitignore": "build/\n*.log.md\n!keep.log.md\n/notes\n\\\n", "deep/.gitignore": "only/*\n!only/d.md\n"}
    written(folder, rules | {".git/HEAD": "x"})

    assert names_of(documents_of(folder), folder) == ["a.md", "deep/keep.log.md", "deep/only/d.md"]
    assert left_out(documents_of(folder), folder) == {
        Reason.HIDDEN: [".gitignore", ".git", "deep/.gitignore"],
        Reason.IGNORED: ["build", "notes", "deep/x.log.md"],
    }
    assert names_of(documents_of(folder / "deep"), folder) == ["deep/keep.log.md", "deep/only/d.md"]
    assert names_of(documents_of(folder / "notes"), folder) == ["notes/e.md"]


def test_secrets_installed_packages_and_what_programs_made_are_left_out(tmp_path: Path) -> None:
    read = ["docs/secrets.md", "secrets.py", "tokenizer.json"]
    secret = ["id_rsa.md", "my-token.json", "server.key"]
    others = ["node_modules/a/README.md", "env/pyvenv.cfg", "env/lib/a.md", "package-lock.json", "x.min.js"]
    folder = written(tmp_path, dict.fromkeys([*read, *secret, *others], "x"))
    documents = documents_of(folder)

    assert names_of(documents, folder) == ["secrets.py", "tokenizer.json", "docs/secrets.md"]
    assert left_out(documents, folder) == {
        Reason.SECRET: secret,
        Reason.GENERATED: ["package-lock.json", "x.min.js"],
        Reason.INSTALLED: ["node_modules", "env"],
    }
    assert documents.skipped.sentence() == "Some of the named files were not read: 3 secrets by their names."


def test_kinds_that_are_not_read_are_counted_by_their_names_but_not_pictures(tmp_path: Path) -> None:
    names = ["a.doc", "b.SRT", "c.srt", "d.msg", "Nothing", "e.png", "f.md", "old.log", "g.md.zip"]
    folder = written(tmp_path, dict.fromkeys(names, "x") | {".gitignore": "old.log\n", ".git/HEAD": "x"})
    documents = documents_of(folder)

    assert names_of(documents, folder) == ["f.md"]
    assert documents.skipped.unexpected == 6
    assert documents.skipped.sentence() == (
        "Some of the named files were not read: 6 of kinds that are not read "
        "(2 .srt, 1 .doc, 1 .msg, 1 .zip, 1 no suffix)."
    )


def test_of_many_unread_kinds_the_most_frequent_are_named(tmp_path: Path) -> None:
    folder = written(tmp_path, {f"a.k{number}": "x" for number in range(10)} | {"b.k9": "x"})
    documents = documents_of(folder)

    assert names_of(documents, folder) == []
    assert documents.skipped.sentence().endswith("(2 .k9, 1 .k0, 1 .k1, 1 .k2, 1 .k3, 1 .k4, 1 .k5, 1 .k6 and 2 more).")


def test_without_its_converter_a_file_is_counted_with_the_reason(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.pdf": "x", "b.docx": "x", "c.md": "x"})
    documents = documents_of(folder, formats=Formats(missing=frozenset({"pdf", "docx"})))

    assert names_of(documents, folder) == ["c.md"]
    assert documents.skipped.sentence() == (
        "Some of the named files were not read: 2 PDF, Word, Excel or RTF, which need "
        "`pip install 'conversation-mcp[documents]'` (1 .docx, 1 .pdf)."
    )


@needs_posix
def test_links_that_lead_out_are_left_out_and_those_within_are_read_once(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"secret.md": "x"})
    folder = written(tmp_path / "docs", {"z.md": "x", "sub/b.md": "x", ".hidden/h.md": "x", "token.json": "x"})
    (folder / "a.md").symlink_to(folder / "z.md")
    (folder / "loop").symlink_to(folder)
    (folder / "sub/up").symlink_to("..")
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "out").symlink_to(outside)
    (folder / "gone.md").symlink_to(folder / "nowhere")
    (folder / "shown.md").symlink_to(folder / ".hidden/h.md")
    (folder / "harmless.md").symlink_to(folder / "token.json")
    (folder / "self.md").symlink_to("self.md")
    documents = documents_of(folder)

    assert names_of(documents, folder) == ["z.md", "sub/b.md"]
    assert documents.skipped.sentence() == (
        "Some of the named files were not read: 2 secrets by their names, 2 linked from elsewhere, 2 unreadable."
    )


@needs_posix
def test_a_pipe_in_a_folder_is_no_document(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / ".gitignore")

    assert list(documents_of(tmp_path)) == []
    with pytest.raises(ProviderNotConfiguredError, match="neither a file nor a folder"):
        documents_of(tmp_path / "pipe.md")


def test_a_huge_file_is_left_out_without_being_read(tmp_path: Path) -> None:
    with written(tmp_path, {"a.md": "x"}).joinpath("b.txt").open("wb") as file:
        file.truncate(1 << 30)
    documents = documents_of(tmp_path)

    assert names_of(documents, tmp_path) == ["a.md"]
    assert documents.skipped.sentence() == "Some of the named files were not read: 1 too large."


@pytest.mark.slow
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

    assert shown == "['a.md', 'unreadable'] Counter({<Reason.UNREADABLE: 'unreadable'>: 2})\n"


@pytest.mark.parametrize("named", ["/", "~", "~/..", "~/docs/..", "/**/*.md", "~/**/*.md", "~/*.md"])
def test_the_whole_disk_and_the_home_folder_are_refused(tmp_path: Path, named: str) -> None:
    home = written(tmp_path / "home", {"docs/a.md": "x"})
    path = Path(named.replace("~", str(home)))

    with pytest.raises(ProviderNotConfiguredError, match=r"is the whole disk|holds your whole home folder") as raised:
        documents_of(home / "docs", path, home=home)
    assert str(path) in raised.value.message
    assert names_of(documents_of(home / "docs", home=home), home) == ["docs/a.md"]


@needs_posix
def test_a_link_to_the_whole_disk_is_refused_even_without_a_home_folder(tmp_path: Path) -> None:
    (tmp_path / "all").symlink_to("/")

    with pytest.raises(ProviderNotConfiguredError, match="is the whole disk"):
        documents_of(tmp_path / "all")


@pytest.mark.parametrize("name", ["nowhere", "a.md/b", "nul\0", "x" * 5000, "nowhere/*.md"])
def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path, {"a.md": "x"})

    with pytest.raises(ProviderNotConfiguredError, match="does not exist or cannot be reached"):
        documents_of(folder, folder / name)
