"""The settings of encryption: where the key is found, that it is shown nowhere, and which store refuses it."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.fixtures.encrypted_store import KEY

from conversation_mcp.cli.configuration.values import values_of
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import EncryptionKeyError, InvalidInputError
from conversation_mcp.sealing.keys import Encryption
from conversation_mcp.settings import LoadedSettings, load_settings
from conversation_mcp.sources import encryption_of
from conversation_mcp.stores.catalog import open_finder, open_store

VARIABLE = "CONVERSATION_MCP_ENCRYPTION_KEY"
KEY_ID = Encryption(KEY, None).masters[0].key_id


def loaded(folder: Path, environment: dict[str, str]) -> LoadedSettings:
    return load_settings({}, environment, folder / "config.toml", folder)


def test_without_a_key_nothing_is_encrypted_and_nothing_is_imported_for_it(tmp_path: Path) -> None:
    assert loaded(tmp_path, {"CONVERSATION_MCP_ENCRYPT": "messages"}).settings.encryption is None
    assert encryption_of({}, tmp_path / "config.toml", tmp_path) is None


def test_a_command_that_reads_no_other_setting_finds_the_same_key(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "config.toml").write_text('encryption_key_file = "key"\nencrypt = "messages"\n')
    for found in (loaded(tmp_path, {}).settings.encryption, encryption_of({}, tmp_path / "config.toml", tmp_path)):
        assert found is not None
        assert found.extent == "messages"
        assert [master.key_id for master in found.masters] == [KEY_ID]


def test_the_key_is_in_no_text_of_the_settings(tmp_path: Path) -> None:
    found = loaded(tmp_path, {VARIABLE: KEY})
    (value,) = [value for value in values_of(found) if value.name == "encryption_key"]
    assert (value.shown, value.is_private) == ("…", True)
    shown = f"{found!r} {found.settings.encryption!r} {found.settings.model_dump_json()}"
    assert KEY[:8] not in shown
    assert KEY[-8:] not in shown
    (tmp_path / "config.toml").write_text("encryption_key = 123456789\n")
    with pytest.raises(InvalidInputError) as caught:
        loaded(tmp_path, {})
    assert "123456789" not in caught.value.sentence()


def test_the_keyring_of_the_system_is_asked_only_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring, asked = ModuleType("keyring"), list[tuple[str, str]]()

    def get_password(service: str, entry: str) -> str | None:
        asked.append((service, entry))
        return KEY if len(asked) == 1 else None

    monkeypatch.setattr(keyring, "get_password", get_password, raising=False)
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    assert Encryption(KEY, None).masters[0].key_id == KEY_ID
    assert asked == []
    assert Encryption("keyring", None).masters[0].key_id == KEY_ID
    assert asked == [("conversation-mcp", "encryption-key")]
    with pytest.raises(EncryptionKeyError, match="no encryption key in the keyring"):
        assert Encryption("keyring", None).masters


def test_a_store_that_cannot_be_encrypted_refuses_a_key() -> None:
    for open_one in (open_store, open_finder):
        with pytest.raises(InvalidInputError, match="only conversations in files can be encrypted"):
            open_one("postgresql://localhost/logs", utc_now, encryption=Encryption(KEY, None))
