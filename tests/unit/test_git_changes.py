"""The change of a repository, as a question sends it."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.repositories import Repository, read, reasons, refusal, texts

from conversation_mcp.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture
def app(tmp_path: Path) -> Repository:
    made = Repository.made(tmp_path / "app")
    made.commit(a__py="one\ntwo\nthree\n", b__py="b\n" * 30)
    return made


async def test_staged_and_unstaged_changes_are_told_apart(app: Repository) -> None:
    app.write("a.py", "one\nTWO\nthree\n")
    app.git("add", "a.py")
    app.write("a.py", "one\nTWO\nTHREE\n")
    staged = texts(await read("git:staged", roots=[app.folder]))
    unstaged = texts(await read("git:unstaged", roots=[app.folder]))
    both = texts(await read("git", roots=[app.folder]))
    assert staged[app.label("git:staged", "a.py")].endswith("@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n")
    assert unstaged[app.label("git:unstaged", "a.py")].endswith("@@ -1,3 +1,3 @@\n one\n TWO\n-three\n+THREE\n")
    assert both[app.label("git", "a.py")].endswith("@@ -1,3 +1,3 @@\n one\n-two\n-three\n+TWO\n+THREE\n")


async def test_the_summary_comes_first_and_names_each_file(app: Repository) -> None:
    app.git("mv", "b.py", "c.py")
    app.write("c.py", "b\n" * 30 + "c\n")
    app.write("a.py", "one\ntwo\n").chmod(0o755)
    app.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0")
    app.git("add", "--all")
    app.write("notes/x.txt", "untracked")
    found = await read("git", roots=[app.folder])
    commit = app.git("rev-parse", "HEAD")[:10]
    summary = found.files[0]
    assert summary.path == app.label("git")
    assert summary.text.replace(commit, "COMMIT").replace(str(app.folder), "/app") == snapshot("""\
The change since the last commit, staged and not staged, in /app
In branch main (COMMIT).
3 files, +1 -1
M a.py  +0 -1, mode 100644 to 100755
R b.py -> c.py  +1 -0
A logo.png  binary, not sent

Not tracked, named only:
notes/
""")
    assert [file.path for file in found.files[1:]] == [app.label("git", "a.py"), app.label("git", "c.py")]
    assert reasons(found) == {app.label("git", "logo.png"): "binary"}


async def test_a_revision_a_range_and_one_commit_are_what_they_are_for_git(app: Repository) -> None:
    app.git("switch", "--quiet", "--create", "feature")
    app.commit(f__py="f\n")
    app.git("switch", "--quiet", "main")
    app.commit(m__py="m\n")
    app.write("a.py", "changed\n")

    async def named(what: str) -> list[str]:
        return [Path(path).name for path in list(texts(await read(what, roots=[app.folder])))[1:]]

    assert await named("git:HEAD~1") == ["a.py", "m.py"]
    assert await named("git:main..feature") == ["f.py", "m.py"]
    assert await named("git:main...feature") == ["f.py"]
    assert await named("git:HEAD^!") == ["m.py"]
    assert await named("git:main~1^!") == ["a.py", "b.py"]
    assert await named("git:HEAD~1:a.py") == ["a.py"]


async def test_before_the_first_commit_everything_is_new(tmp_path: Path) -> None:
    fresh = Repository.made(tmp_path / "fresh")
    fresh.write("a.py", "a\n")
    fresh.git("add", "a.py")
    found = texts(await read("git:staged", roots=[fresh.folder]))
    assert "branch main (no commits yet)" in found[fresh.label("git:staged")]
    assert found[fresh.label("git:staged", "a.py")].endswith("@@ -0,0 +1 @@\n+a\n")
    assert "git knows no commit of this name" in await refusal("git:HEAD", roots=[fresh.folder])


async def test_a_conflict_is_shown_with_its_marks(app: Repository) -> None:
    app.git("switch", "--quiet", "--create", "other")
    app.commit(a__py="theirs\n")
    app.git("switch", "--quiet", "main")
    app.commit(a__py="ours\n")
    app.git("merge", "other", code=1)
    found = texts(await read("git:unstaged", roots=[app.folder]))
    assert "A merge is in progress." in found[app.label("git:unstaged")]
    assert "U a.py  in conflict" in found[app.label("git:unstaged")]
    assert "+<<<<<<< HEAD" in found[app.label("git:unstaged", "a.py")]
    assert "+>>>>>>> other" in texts(await read("git", roots=[app.folder]))[app.label("git", "a.py")]


async def test_a_submodule_is_named_and_not_entered(app: Repository, tmp_path: Path) -> None:
    inner = Repository.made(tmp_path / "inner")
    first = inner.commit(x__py="x\n")
    app.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.folder), "lib")
    app.commit()
    lib = Repository(app.folder / "lib")
    second = lib.commit(x__py="y\n")
    marker = tmp_path / "entered"
    Repository(app.folder / ".git/modules/lib").git("config", "core.fsmonitor", f"touch {marker}")
    lib.write("x.py", "dirty\n")
    app.git("config", "--file", ".gitmodules", "submodule.lib.url", "ext::sh -c 'touch pwned'")
    found = await read("git", roots=[app.folder])
    line = f"M lib  a submodule, {first[:10]} to what is checked out, not sent: submodules are not entered"
    assert line in found.files[0].text
    assert [Path(file.path).name for file in found.files[1:]] == [".gitmodules"]
    app.git("add", "lib")
    assert f"{first[:10]} to {second[:10]}" in (await read("git:staged", roots=[app.folder])).files[0].text
    assert not marker.exists()


async def test_a_worktree_outside_of_its_repository_is_read(app: Repository, tmp_path: Path) -> None:
    app.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = Repository(tmp_path / "side")
    side.write("a.py", "side\n")
    found = texts(await read("git", roots=[side.folder]))
    assert "branch side" in found[side.label("git")]
    assert side.label("git", "a.py") in found


async def test_a_bare_repository_has_ranges_only(app: Repository, tmp_path: Path) -> None:
    app.commit(a__py="new\n")
    app.git("clone", "--quiet", "--bare", str(app.folder), str(tmp_path / "bare"))
    bare = Repository(tmp_path / "bare")
    found = texts(await read("git:HEAD~1..HEAD", roots=[bare.folder]))
    assert bare.label("git:HEAD~1..HEAD", "a.py") in found
    assert "a bare repository has no files" in await refusal("git:staged", roots=[bare.folder])


async def test_a_repository_above_the_root_shows_only_what_is_below_it(app: Repository) -> None:
    app.commit(**{"sub/x.py": "x\n"})
    app.write("sub/x.py", "y\n")
    app.write("a.py", "hidden\n")
    found = await read("git", roots=[app.folder / "sub"])
    assert [Path(file.path).name for file in found.files] == ["app (summary)", "x.py"]
    assert "a.py" not in found.files[0].text
    assert "Only what is in the folders that may be read." in found.files[0].text


async def test_of_several_repositories_one_must_be_named(app: Repository, tmp_path: Path) -> None:
    other = Repository.made(tmp_path / "other")
    other.write("o.py", "o\n")
    other.git("add", "o.py")
    roots = [app.folder, other.folder]
    assert "there are several repositories" in await refusal("git:staged", roots=roots)
    found = texts(await read(f"git:{other.folder}:staged", roots=roots))
    assert list(found) == [other.label("git:staged"), other.label("git:staged", "o.py")]


async def test_nothing_changed_and_no_repository_are_said(app: Repository, tmp_path: Path) -> None:
    assert "nothing has changed there" in await refusal("git", roots=[app.folder])
    app.folder.joinpath("a.py").touch()
    assert "nothing has changed there" in await refusal("git", roots=[app.folder])
    (tmp_path / "plain").mkdir()
    assert "not in a git repository" in await refusal("git", roots=[tmp_path / "plain"])
    assert "outside of the folders" in await refusal(f"git:{app.folder}", roots=[tmp_path / "plain"])


async def test_without_git_a_sentence_says_so(app: Repository) -> None:
    app.write("a.py", "x")
    found = await read("git", str(app.folder / "a.py"), roots=[app.folder], environment={"PATH": "/nowhere"})
    assert reasons(found)["git"].startswith("git is not installed, or not in PATH")


async def test_reading_leaves_the_repository_as_it_was(app: Repository) -> None:
    app.write("a.py", "x\n")
    before = {path: path.stat().st_mtime_ns for path in app.folder.rglob("*")}
    await read("git", roots=[app.folder])
    assert {path: path.stat().st_mtime_ns for path in app.folder.rglob("*")} == before


async def test_ends_of_lines_that_git_converts_are_no_change(app: Repository, tmp_path: Path) -> None:
    app.git("config", "core.autocrlf", "true")
    app.write("a.py", "one\r\ntwo\r\nthree\r\n")
    assert "nothing has changed there" in await refusal("git", roots=[app.folder])
    app.git("config", "core.autocrlf", "false")
    assert app.label("git", "a.py") in texts(await read("git", roots=[app.folder]))


async def test_a_large_file_is_left_out_and_the_others_are_sent(app: Repository) -> None:
    app.write("a.py", "changed\n")
    app.write("b.py", "x" * 99 + "\n" * 10 + "y\n" * 5_000)
    found = await read("git", roots=[app.folder], settings=Settings(max_file_bytes=2_000))
    assert list(texts(found)) == [app.label("git"), app.label("git", "a.py")]
    assert "larger than 2,000 bytes" in reasons(found)[app.label("git", "b.py")]


async def test_an_object_that_is_missing_costs_only_its_file(app: Repository) -> None:
    blob = app.git("rev-parse", "HEAD:a.py")
    app.write("a.py", "x\n")
    app.write("b.py", "y\n")
    (app.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = await read("git", roots=[app.folder])
    assert list(texts(found)) == [app.label("git"), app.label("git", "b.py")]
    assert "git cannot read this change" in reasons(found)[app.label("git", "a.py")]


async def test_sha256_repositories_are_read(tmp_path: Path) -> None:
    made = Repository.made(tmp_path / "x", "--object-format=sha256")
    made.write("a.py", "a\n")
    made.git("add", "a.py")
    assert made.label("git:staged", "a.py") in texts(await read("git:staged", roots=[made.folder]))
