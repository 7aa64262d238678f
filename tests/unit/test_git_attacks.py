"""Repositories that somebody else prepared: nothing of them runs, and nothing is read that may not be."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from tests.fixtures.repositories import PLAIN, Repository, read, reasons, refusal, texts

pytestmark = pytest.mark.slow

SECRET = "ghp_" + "k8Jd02LmQpXz7RtVbN4sWc6YhGf1AeUo3T5i"
NOBODY = 65534
NAMES = [
    "--output=x",
    "-p",
    "a\nb.py",
    "a\x1b[31mred\x1b[0m.py",
    "\udcff.py",
    ":(top)x",
    "diff --git a b",
    'q"u.py',
    " .py",
    "té.py",
]
EVERY = ("git", "git:staged", "git:unstaged", "git:HEAD", "git:HEAD~1..HEAD", "git:HEAD^!")


@pytest.fixture
def app(tmp_path: Path) -> Repository:
    made = Repository.made(tmp_path / "app")
    made.commit(a__py="one\ntwo\n", b__txt="b\n")
    made.commit(a__py="one\nzwei\n", b__txt="B\n")
    return made


def trapped(app: Repository, tmp_path: Path) -> Path:
    """Put a command behind everything by which git can start one, and return the folder that it would write to."""
    traps = tmp_path / "traps"
    traps.mkdir()
    script = tmp_path / "trap.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {traps}/sprung\ncat\n')
    script.chmod(0o755)
    app.configure(f"""
[core]
    fsmonitor = {script}
    pager = {script}
    sshCommand = {script}
    gitProxy = {script}
    askPass = {script}
    editor = {script}
    hooksPath = {tmp_path}/hooks
    alternateRefsCommand = {script}
[diff]
    external = {script}
    tool = evil
[diff "evil"]
    command = {script}
    textconv = {script}
[filter "evil"]
    clean = {script}
    smudge = {script}
    process = {script}
    required = true
[alias]
    diff = !{script}
    diff-index = !{script}
    rev-parse = !{script}
[credential]
    helper = !{script}
[remote "origin"]
    url = ext::{script}
    promisor = true
    uploadpack = {script}
[extensions]
    partialClone = origin
[gpg]
    program = {script}
[log]
    showSignature = true
[submodule]
    recurse = true
[include]
    path = {tmp_path}/included
""")
    tmp_path.joinpath("included").write_text(f"[core]\n    fsmonitor = {script}\n")
    for name in ("post-index-change", "pre-commit", "fsmonitor-watchman", "post-checkout"):
        for folder in (tmp_path / "hooks", app.folder / ".git/hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(script.read_text())
            (folder / name).chmod(0o755)
    return traps


async def test_nothing_that_a_repository_names_is_run(app: Repository, tmp_path: Path) -> None:
    app.write("a.py", "three\n")
    app.write(".gitattributes", "* filter=evil diff=evil\n")
    app.write("b.txt", "staged\n")
    app.git("add", "b.txt", ".gitattributes")
    app.write("b.txt", "not staged\n")
    traps = trapped(app, tmp_path)
    for which in EVERY:
        found = texts(await read(which, roots=[app.folder]))
        assert found[app.label(which, "b.txt")]
    assert list(traps.iterdir()) == []
    assert not list(tmp_path.rglob("sprung"))


async def test_the_traps_of_these_tests_would_spring(app: Repository, tmp_path: Path) -> None:
    traps = trapped(app, tmp_path)
    app.write("a.py", "three\n")
    environment = {**PLAIN, "HOME": str(tmp_path)}
    process = await asyncio.create_subprocess_exec("git", "diff", cwd=app.folder, env=environment, stdout=-3, stderr=-3)
    await process.wait()
    assert (traps / "sprung").exists()


async def test_objects_that_only_a_remote_has_are_not_fetched(app: Repository, tmp_path: Path) -> None:
    blob = app.git("rev-parse", "HEAD~1:b.txt")
    traps = trapped(app, tmp_path)
    (app.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = await read("git:HEAD^!", roots=[app.folder])
    assert app.label("git:HEAD^!", "a.py") in texts(found)
    assert "not on this machine" in reasons(found)[app.label("git:HEAD^!", "b.txt")]
    assert list(traps.iterdir()) == []


async def test_variables_of_git_do_not_reach_it(app: Repository, tmp_path: Path) -> None:
    app.write("a.py", "three\n")
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    evil.chmod(0o755)
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_DIR": str(tmp_path),
        "GIT_EXTERNAL_DIFF": str(evil),
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(evil),
    }
    found = texts(await read("git", roots=[app.folder], environment=environment))
    assert app.label("git", "a.py") in found
    assert not (tmp_path / "sprung").exists()
    assert not (tmp_path / "trace").exists()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")
async def test_a_repository_of_somebody_else_is_refused_unless_git_trusts_it(app: Repository, tmp_path: Path) -> None:
    app.write("a.py", "three\n")
    for path in (app.folder, app.folder / ".git"):
        os.chown(path, NOBODY, NOBODY)
    assert "belongs to somebody else" in await refusal("git", roots=[app.folder])
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[safe]\n    directory = {app.folder}\n")
    assert app.label("git", "a.py") in texts(await read("git", roots=[app.folder], home=home))


async def test_names_like_options_and_names_of_bytes_are_read_as_names(app: Repository) -> None:
    for name in NAMES:
        app.write(name, "new\n")
    app.git("add", "--all")
    found = await read("git:staged", roots=[app.folder])
    assert len(found.files) == 1 + len(NAMES)
    assert all(file.text.endswith("+new\n") for file in found.files[1:])
    assert all(path.isprintable() for path in texts(found))
    assert all(line.isprintable() for line in found.files[0].text.splitlines())
    assert {path.name for path in app.folder.iterdir()} == {".git", "a.py", "b.txt", *NAMES}


async def test_secrets_that_were_staged_are_refused_by_name_and_content(app: Repository) -> None:
    app.write(".env", "A=b\n")
    app.write("settings.py", f'TOKEN = "{SECRET}"\n')
    app.write("fine.py", "ok\n")
    app.git("add", "--all")
    found = await read("git:staged", roots=[app.folder])
    assert list(texts(found)) == [app.label("git:staged"), app.label("git:staged", "fine.py")]
    assert reasons(found) == {
        app.label("git:staged", ".env"): "a secret by its name: variables with keys",
        app.label("git:staged", "settings.py"): "a secret by its content: a token of GitHub",
    }


async def test_secrets_that_are_removed_renamed_or_around_a_change_are_refused(app: Repository) -> None:
    app.commit(**{"old__py": f"# {SECRET}\n" + "x\n" * 40, ".npmrc": "a\n" * 40, "near__py": f"# {SECRET}\ny\n"})
    app.write("old.py", "x\n" * 40)
    app.write("near.py", f"# {SECRET}\nz\n")
    app.git("mv", ".npmrc", "plain.txt")
    found = await read("git", roots=[app.folder])
    assert list(texts(found)) == [app.label("git")]
    assert {path.rpartition("/")[2]: reason.partition(":")[0] for path, reason in reasons(found).items()} == {
        "old.py": "a secret by its content",
        "near.py": "a secret by its content",
        "plain.txt": "a secret by its name",
    }


async def test_a_name_that_is_a_secret_is_not_said(app: Repository) -> None:
    app.write(f"{SECRET}.py", "x\n")
    app.write(f"sub/{SECRET}.py", "x\n")
    app.git("add", f"{SECRET}.py")
    app.write("a.py", "x\n")
    found = await read("git", roots=[app.folder])
    assert SECRET not in str(found)
    assert "1 files are not named here" in found.files[0].text


async def test_a_git_folder_that_leads_elsewhere_is_refused(app: Repository, tmp_path: Path) -> None:
    private = Repository.made(tmp_path / "private")
    private.commit(x__py="x\n")
    private.commit(x__py="private words\n")
    private.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    for link in ("link", "file", "worktree", "worktree_link"):
        lure = tmp_path / link
        lure.mkdir()
        if link == "link":
            (lure / ".git").symlink_to(private.folder / ".git")
        elif link == "file":
            (lure / ".git").write_text(f"gitdir: {private.folder}/.git\n")
        elif link == "worktree":
            (lure / ".git").write_text(f"gitdir: {private.folder}/.git/worktrees/side\n")
        else:
            (lure / ".git").symlink_to(tmp_path / "side/.git")
        for which in ("git", "git:HEAD^!"):
            assert "leads outside of the folders" in await refusal(which, roots=[lure])
            assert "leads outside of the folders" not in str(await _found(which, [lure, private.folder]))


async def _found(which: str, roots: list[Path]) -> object:
    return await read(f"git:{roots[0]}:{which.removeprefix('git').removeprefix(':')}", roots=roots)


@pytest.mark.parametrize("part", ["objects", "refs", "index", "packed-refs", "alternates", "one object", "worktree"])
async def test_a_part_of_a_repository_that_leads_elsewhere_is_refused(
    app: Repository, tmp_path: Path, part: str
) -> None:
    private = Repository.made(tmp_path / "private")
    commit = private.commit(x__py="private words\n")
    private.git("pack-refs", "--all")
    git = app.folder / ".git"
    match part:
        case "alternates":
            (git / "objects/info/alternates").write_text(f"{private.folder}/.git/objects\n")
        case "one object":
            blob = private.git("rev-parse", "HEAD:x.py")
            (git / "objects" / blob[:2]).mkdir(exist_ok=True)
            (git / "objects" / blob[:2] / blob[2:]).symlink_to(private.folder / ".git/objects" / blob[:2] / blob[2:])
        case "worktree":
            app.configure(f"[core]\n    worktree = {private.folder}\n")
        case _:
            if (git / part).exists():
                (git / part).rename(git / f"old-{part}")
            (git / part).symlink_to(private.folder / ".git" / part)
    (git / "HEAD").write_text(commit + "\n" if part in ("objects", "alternates") else "ref: refs/heads/main\n")
    for which in ("git", "git:HEAD^!"):
        assert "leads outside of the folders" in await refusal(which, roots=[app.folder])


async def test_a_tracked_file_that_became_a_link_sends_no_other_file(app: Repository, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("private words\n")
    (app.folder / "a.py").unlink()
    (app.folder / "a.py").symlink_to(tmp_path / "private.txt")
    app.commit(**{"sub/x.txt": "x\n"})
    (app.folder / "sub/x.txt").unlink()
    (app.folder / "sub").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x.txt").write_text("private words\n")
    (app.folder / "sub").symlink_to(tmp_path / "elsewhere")
    for which in ("git", "git:HEAD~1", "git:unstaged"):
        assert "private words" not in str(await read(which, roots=[app.folder]))


async def test_a_configuration_that_is_no_configuration_is_said(app: Repository) -> None:
    app.configure("[[[\n")
    assert "a repository that git cannot read" in await refusal("git", roots=[app.folder])
