"""The key file: private from its first moment, refused when it is not, several keys."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from flow.errors import ConfigError
from flow.secrets import keys, names

NOTHING: dict[str, str] = {}


def write(file: Path, *lines: str, mode: int = 0o600) -> Path:
    file.write_text("\n".join(lines) + "\n")
    file.chmod(mode)
    return file


def new() -> str:
    return Fernet.generate_key().decode()


def test_the_file_is_made_with_mode_0600_whatever_the_umask(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "secrets.key"
    before = os.umask(0)
    try:
        made = keys.load_or_make(file, NOTHING)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]
    assert keys.load(file, NOTHING).decrypt(made.encrypt("grün"), "it") == "grün"


def test_processes_that_make_it_at_once_agree_on_one_key(tmp_path: Path) -> None:
    file = tmp_path / "secrets.key"
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: keys.load_or_make(file, NOTHING), range(8)))
    token = made[0].encrypt("x")
    assert [one.decrypt(token, "it") for one in made] == ["x"] * 8


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = write(tmp_path / "secrets.key", new(), mode=mode)
    with pytest.raises(ConfigError, match=f"can be read by others \\(mode 0{mode:o}\\)"):
        keys.load(file, NOTHING)


def test_the_first_key_encrypts_and_all_decrypt(tmp_path: Path) -> None:
    old, young = new(), new()
    before = keys.load(write(tmp_path / "old", old), NOTHING)
    token = before.encrypt("x")
    both = keys.load(write(tmp_path / "both", "# rotated", young, "", old), NOTHING)
    assert both.decrypt(token, "it") == "x"
    with pytest.raises(ConfigError, match="variable 'a' cannot be decrypted"):
        before.decrypt(both.encrypt("x"), "variable 'a'")


def test_the_credential_of_systemd_goes_first(tmp_path: Path) -> None:
    credential = write(tmp_path / keys.CREDENTIAL, new(), mode=0o440)
    file = tmp_path / "secrets.key"
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    token = keys.load_or_make(file, environ).encrypt("x")
    assert not file.exists()
    assert Fernet(credential.read_text().strip()).decrypt(token) == b"x"


def test_a_line_that_is_no_key_is_named_by_its_number_and_not_quoted(tmp_path: Path) -> None:
    file = write(tmp_path / "secrets.key", new(), "hunter2")
    with pytest.raises(ConfigError) as caught:
        keys.load(file, NOTHING)
    assert caught.value.message == f"{file}, line 2, is not a key"
    assert "hunter2" not in caught.value.hint


def test_a_missing_or_empty_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no key file"):
        keys.load(tmp_path / "none", NOTHING)
    with pytest.raises(ConfigError, match="holds no key"):
        keys.load(write(tmp_path / "empty", "# nothing"), NOTHING)


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("region", "FLOW_CONN_REGION"),
        ("sales-db.eu", "FLOW_CONN_SALES_DB_EU"),
        ("a b/c", "FLOW_CONN_A_B_C"),
        ("größe", "FLOW_CONN_GR_SSE"),
    ],
)
def test_the_environment_spells_names_in_upper_case(name: str, variable: str) -> None:
    assert names.connection_in_environment(name) == variable
