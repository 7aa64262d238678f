"""Secrets are refused by name and by content, and few other files are taken for one."""

import random
import string
from pathlib import Path

import pytest
from tests.fixtures.attached_files import Desk, write

from conversation_mcp.attaching.secrets import SecretRules
from conversation_mcp.documents.formats import Formats
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings

ROOT = Path(__file__).parents[2]
RULES = SecretRules(Formats())


def drawn(length: int, chars: str = string.ascii_letters + string.digits) -> str:
    """Return the same characters in every run; no key in the form of a real one stands in this file."""
    return "".join(random.Random(length).choices(chars, k=length))


HEX = string.digits + "abcdef"
UPPER = string.ascii_uppercase + "234567"
PASSWORD = "Tr0ub" + "4dor&3x9"


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".env.local", ".ENV", "prod.env", ".envrc", "id_rsa", "id_ed25519", "deploy_rsa", "server.pem",
        "tls.key", "cert.p12", "cert.pfx", "vault.kdbx", "credentials", "credentials.json", ".netrc", ".npmrc", ".pypirc",
        ".aws/config", ".ssh/known_hosts", ".gnupg/trustdb.gpg", ".kube/config", ".docker/config.json", "terraform.tfstate",
        "terraform.tfstate.backup", "prod.tfvars", "service-account.json", "my-project-service-account.json",
        "client_secret_1.json", ".git-credentials", ".pgpass", "secrets.yaml", ".htpasswd", ".bash_history",
        ".config/gcloud/x", "release.jks",
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_name(path: str) -> None:  # defect 16
    assert RULES.by_name(f"/home/user/{path}")


@pytest.mark.parametrize(
    "path",
    [
        "environment.py", ".env.example", ".env.sample", "id_rsa.pub", ".ssh/id_rsa.pub", "credentials.py", "key.py",
        "tokens.json", "secrets.py", "docker/config.json", "kube/config.py", "README.md", "keyboard.c", "config.json",
        ".editorconfig", "monkey", "env", "package.json", "test_credentials.py", "secretary.md",
    ],
)  # fmt: skip
def test_other_names_are_none_of_secrets(path: str) -> None:
    assert RULES.by_name(f"/home/user/{path}") is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"-----BEGIN RSA PRIVATE KEY-----\n{drawn(64)}\n", "a private key"),
        (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{drawn(70)}\n", "a private key"),
        (f'"private_key": "-----BEGIN PRIVATE KEY-----\\n{drawn(64)}\\n"', "a private key"),
        (f"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{drawn(64)}\n", "a private key"),
        (f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{drawn(64)}\n", "a private key"),
        (f"id = AKIA{drawn(16, UPPER)}", "a key of AWS"),
        (f"ghp_{drawn(36)}", "a token of GitHub"),
        (f"x github_pat_{drawn(60)} y", "a token of GitHub"),
        (f"glpat-{drawn(20)}", "a token of GitLab"),
        (f"xoxb-{drawn(12, '0123456789')}-{drawn(24)}", "a token of Slack"),
        (f"https://hooks.slack.com/services/T{drawn(8, UPPER)}/B{drawn(9, UPPER)}/{drawn(24)}", "a token of Slack"),
        (f"AIza{drawn(35)}", "a key of Google"),
        (f"sk-{drawn(48)}", "a key of OpenAI"),
        (f"sk-proj-{drawn(80)}", "a key of OpenAI"),
        (f"sk-ant-api03-{drawn(80)}", "a key of Anthropic"),
        (f"PERPLEXITY_API_KEY=pplx-{drawn(48)}", "a key of a provider of models"),
        (f"sk_live_{drawn(24)}", "a key of Stripe"),
        (f"npm_{drawn(36)}", "a token of a registry of packages"),
        (f"eyJ{drawn(30)}.eyJ{drawn(40)}.{drawn(43)}", "a signed token (JWT)"),
        (f"postgres://app:{drawn(14)}@db.internal:5432/prod", "a password in an address"),
        (f"redis://:{drawn(12)}@cache:6379", "a password in an address"),
        (f'password = "{PASSWORD}"', "a password or key that is assigned"),
        (f"  'db_password': '{PASSWORD}',", "a password or key that is assigned"),
        (f'client_secret: "{drawn(40)}"', "a password or key that is assigned"),
        (f'aws_secret_access_key="{drawn(40)}"', "a password or key that is assigned"),
        (f"export SECRET_KEY={drawn(50)}", "a password or key that is assigned"),
        (f"api_key: {drawn(32, HEX)}", "a password or key that is assigned"),
        (f"{'x' * 90_000} ghp_{drawn(36)} {'y' * 90_000}", "a token of GitHub"),
    ],
)
def test_a_secret_is_known_by_its_content(text: str, what: str) -> None:
    assert RULES.by_content(f"# first line\n{text}\n# last line\n") == what


@pytest.mark.parametrize(
    "text",
    [
        'password = "changeme"', 'password = "your-password-1"', 'password = os.environ["PASSWORD_1"]',
        'password = getpass("Password 2: ")', 'PASSWORD = "${DB_PASSWORD1}"', 'token = "<your token 1 here>"',
        'api_key = "sk-..."', 'api_key="xxxxxxxxxxxxxxxxxxxxxxx1"', "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1",
        "AKIAIOSFODNN7EXAMPLE", "-----BEGIN PRIVATE KEY-----", 'BEGIN = "-----BEGIN RSA PRIVATE KEY-----"',
        "postgres://user:password@localhost/db", "https://user:pass@example.com/", "http://user:hunter22@host/path",
        "https://a.example/b:c@d", 'secret_name = "projects/1/secrets/name"', 'token_url = "https://a.example/oauth2/token"',
        "token: OAuth2Token", "key = x25519.PrivateKey1", 'KEY_PATTERN = r"sk-[A-Za-z0-9]{20,}"', "def f(password: str) -> None:",
        'reset_password = "reset_password_v2_view"', "max_tokens = 4096", "sha256=sk-sH1I6OL_lOn3fntKGV6drtVxKqLCuXK7yOyLbTxA",
    ],
)  # fmt: skip
def test_placeholders_and_code_about_secrets_are_none(text: str) -> None:
    assert RULES.by_content(f"# first line\n{text}\n# last line\n") is None


@pytest.mark.slow
def test_the_files_of_this_project_are_not_taken_for_secrets() -> None:
    paths = [
        path
        for part in ("src", "docs", "tests")
        for path in (ROOT / part).rglob("*")
        if path.suffix in {".py", ".md", ".toml"}
    ]
    assert len(paths) > 300

    assert [path for path in paths if RULES.by_name(str(path)) or RULES.by_content(path.read_text("utf-8"))] == []


async def test_a_refused_file_says_the_rule_and_never_shows_the_secret(tmp_path: Path) -> None:
    secret = f"ghp_{drawn(36)}"
    desk = Desk(write(tmp_path, {"a.py": f"token = '{secret}'", "key.pem": secret, ".env": secret}))

    with pytest.raises(InvalidInputError) as raised:
        await desk.read(*(tmp_path / name for name in ("a.py", "key.pem", ".env")))

    told = raised.value.sentence()
    assert "a.py: a secret by its content: a token of GitHub" in told
    assert "key.pem: a secret by its name: a private key" in told
    assert ".env: a secret by its name: variables with keys" in told
    assert "CONVERSATION_MCP_ALLOW_SECRETS" in told
    assert secret not in told


async def test_a_secret_behind_a_harmless_link_is_known(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {".ssh/config": "Host x"}))
    (tmp_path / "notes.txt").symlink_to(".ssh/config")

    with pytest.raises(InvalidInputError, match="a folder of keys"):
        await desk.read(tmp_path / "notes.txt")


@pytest.mark.parametrize("allowed", ["key.pem", "k*.pem", ".", "link/key.pem"])
async def test_only_the_setting_allows_secrets_by_their_paths(tmp_path: Path, allowed: str) -> None:
    (tmp_path / "link").symlink_to(".")
    content = f"-----BEGIN PRIVATE KEY-----\n{drawn(64)}\n"
    desk = Desk(write(tmp_path, {"key.pem": content}), Settings(allow_secrets=(tmp_path / allowed,)))

    assert desk.names(await desk.read(tmp_path / "key.pem")) == ["key.pem"]


async def test_an_allowed_path_allows_no_other(tmp_path: Path) -> None:
    files = {"a/.env": "x", "b/.env": "x", "a/.env2/.env": "x"}
    desk = Desk(write(tmp_path, files), Settings(allow_secrets=(tmp_path / "a/.env",)))

    read = await desk.read(*(tmp_path / name for name in files))

    assert desk.names(read) == ["a/.env"]


async def test_a_secret_in_a_pipe_is_refused_unless_the_setting_names_the_pipe(tmp_path: Path) -> None:
    secret = f"ghp_{drawn(36)}".encode()

    with pytest.raises(InvalidInputError, match="-: a secret by its content"):
        await Desk(tmp_path).read("-", pipe=secret)
    assert (await Desk(tmp_path, Settings(allow_secrets=(Path("-"),))).read("-", pipe=secret)).files


async def test_a_file_that_is_allowed_is_refused_again_once_it_is_not(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.txt": f"ghp_{drawn(36)}"}), Settings(allow_secrets=(tmp_path,)))
    await desk.read(tmp_path / "a.txt")

    with pytest.raises(InvalidInputError, match="a secret by its content"):
        await Desk(tmp_path, cache=desk.cache).read(tmp_path / "a.txt")
