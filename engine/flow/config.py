"""Finding and reading settings: `load()` gives the typed tree and says where each value is from.

A value comes from, in this order:

1. the chosen `[deployment.NAME]` table of `flow.toml`, when the command line named the deployment
   (what was typed just now wins, or `flow --deployment test` in a shell with FLOW_DATABASE_URL
   would act on another database than the one asked for),
2. for a secret, the credential that systemd has given to the process: `flow_database_url` in the
   folder $CREDENTIALS_DIRECTORY,
3. the environment variable of the key: FLOW_HOME, FLOW_DATABASE_URL, FLOW_WORKER_SLOTS, …
4. the `[deployment.NAME]` table that FLOW_DEPLOYMENT names,
5. the other tables of `flow.toml`,
6. the default in `flow.settings`.

One `flow.toml` is read: the one named by `--config` or FLOW_CONFIG, else the nearest in the
current folder or its parents, else the user's, else the machine's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from flow.errors import ConfigError
from flow.settings import SECTIONS, TABLE, Setting, Settings, build

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "flow.toml"
MACHINE_FILE = "/etc/flow/flow.toml"
ROOT_HOME = "/var/lib/flow"
DEFAULT = "default"
HEARTBEATS_BEFORE_LOST = 3


class Config(NamedTuple):
    """Settings, and where they were found.

    `origins` has for each key of `flow.settings.TABLE` the file, the environment variable, the
    credential or `default`. `file` is the `flow.toml` that was read, if there was one.
    """

    settings: Settings
    origins: Mapping[str, str]
    file: Path | None
    deployment: str | None

    def value(self, key: str) -> object:
        """The value of a key of `flow.settings.TABLE`, such as `worker.slots`."""
        found: object = self.settings
        for part in key.split("."):
            found = getattr(found, part)
        return found


class _Written(NamedTuple):
    """A value as somebody wrote it, who wrote it, and the folder its paths start from."""

    value: object
    origin: str
    base: Path


def load(
    file: Path | None = None,
    deployment: str | None = None,
    environ: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> Config:
    """The settings that hold for a process.

    `file` and `deployment` are what the command line named. `folder` is where the search for
    `flow.toml` begins, the current folder by default. Raises `ConfigError` that names file and key.
    """
    from pathlib import Path

    folder = folder or Path.cwd()
    found = find_file(file, environ, folder)
    tables = _read_file(found) if found else {}
    chosen = deployment or environ.get("FLOW_DEPLOYMENT") or None
    in_file = list(_written_in_file(tables, found, None)) if found else []
    in_deployment = list(_written_in_deployment(tables, found, chosen)) if chosen else []
    in_environment = list(_written_in_environment(environ, folder))
    in_environment += _written_in_credentials(environ)
    if deployment:
        layers = (in_file, in_environment, in_deployment)
    else:
        layers = (in_file, in_deployment, in_environment)
    written = {key: value for layer in layers for key, value in layer}
    settings, origins = _resolve(written, environ)
    return Config(settings, origins, found, chosen)


def find_file(file: Path | None, environ: Mapping[str, str], folder: Path) -> Path | None:
    """The `flow.toml` to read, or None when there is none anywhere.

    What has the name and cannot be read is found too: to read another one, or none, would act on
    another deployment.
    """
    from pathlib import Path

    named = file or (Path(environ["FLOW_CONFIG"]) if environ.get("FLOW_CONFIG") else None)
    if named is not None:
        named = folder / named.expanduser()
        if not os.path.lexists(named):
            raise ConfigError(
                f"there is no settings file {named}",
                "Name an existing file with --config or FLOW_CONFIG, or make one with: flow init",
            )
        return named
    for parent in (folder, *folder.parents):
        if os.path.lexists(parent / FILE_NAME):
            return parent / FILE_NAME
    places = [Path(MACHINE_FILE)]
    try:
        places.insert(0, user_folder(environ, "XDG_CONFIG_HOME", ".config") / FILE_NAME)
    except ConfigError:
        pass  # whoever has no home folder has no file there
    return next((path for path in places if os.path.lexists(path)), None)


def default_home(environ: Mapping[str, str], user_id: int) -> Path:
    """Where Flow keeps its state when nobody said where."""
    from pathlib import Path

    if user_id == 0:
        return Path(ROOT_HOME)
    return user_folder(environ, "XDG_DATA_HOME", ".local/share")


def nearest(name: str, names: Mapping[str, object]) -> str | None:
    """The one of `names` that somebody who wrote `name` most likely meant."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, n=1)), None)


def user_folder(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    """Flow's folder below one that XDG names. Raises `ConfigError` for a user without a home."""
    from pathlib import Path

    named = environ.get(variable)
    if named:
        return Path(named) / "flow"
    try:
        return Path(environ.get("HOME") or Path.home()) / below_home / "flow"
    except RuntimeError as error:  # a user id that has no entry and no HOME, as in containers
        raise ConfigError(
            "this user has no home folder",
            "Set HOME, or say with FLOW_HOME where Flow keeps its state.",
        ) from error


def _read_file(file: Path) -> dict[str, object]:
    import tomllib

    try:
        # A pipe is not even opened: nobody may ever write into it.
        if not stat.S_ISREG(file.stat().st_mode):
            raise ConfigError(
                f"{file} is {'a folder' if file.is_dir() else 'no ordinary file'}",
                "Settings are read from a text file: move what is there out of the way, or name "
                "another file with --config.",
            )
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"{file} is a link to a file that is not there", "Mend the link, or remove it."
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {error.strerror}", "Check the permissions of the file."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", "Save the file as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}", "Mend that line.") from error


def _written_in_file(
    tables: Mapping[str, object], file: Path, deployment: str | None
) -> Iterator[tuple[str, _Written]]:
    origin = f"{file} [deployment.{deployment}]" if deployment else str(file)
    for name, value in tables.items():
        if name in SECTIONS:
            if not isinstance(value, dict):
                raise ConfigError(
                    f"{origin}: {name} must be a table",
                    f"Write its keys below a line [{name}].",
                )
            for key, inner in value.items():
                setting = _known(f"{name}.{key}", origin)
                yield setting.key, _Written(inner, origin, file.parent)
        elif name != "deployment" or deployment:
            yield _known(name, origin).key, _Written(value, origin, file.parent)


def _written_in_deployment(
    tables: Mapping[str, object], file: Path | None, deployment: str
) -> Iterator[tuple[str, _Written]]:
    deployments = tables.get("deployment", {})
    table = deployments.get(deployment) if isinstance(deployments, dict) else None
    if file is not None and isinstance(table, dict):
        yield from _written_in_file(table, file, deployment)
        return
    names = deployments if isinstance(deployments, dict) else {}
    meant = nearest(deployment, names)
    where = str(file) if file else f"(there is no {FILE_NAME} here)"
    known = f"Did you mean {meant}?" if meant else f"It has: {', '.join(names) or 'none'}."
    raise ConfigError(
        f"{where} has no deployment {deployment!r}",
        f"{known} A deployment is a table [deployment.{deployment}] of {FILE_NAME}.",
    )


def _written_in_environment(
    environ: Mapping[str, str], folder: Path
) -> Iterator[tuple[str, _Written]]:
    for setting in TABLE.values():
        text = environ.get(setting.variable)
        if text:
            yield setting.key, _Written(text, setting.variable, folder)


def _written_in_credentials(environ: Mapping[str, str]) -> Iterator[tuple[str, _Written]]:
    from pathlib import Path

    place = environ.get("CREDENTIALS_DIRECTORY")
    for setting in TABLE.values() if place else ():
        path = Path(place or "", setting.credential)
        if setting.secret and path.is_file():
            yield setting.key, _Written(_read_credential(path), str(path), path.parent)


def _read_credential(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}", "Check the file that LoadCredential= names."
        ) from error


def _known(key: str, origin: str) -> Setting:
    if key in TABLE:
        return TABLE[key]
    section = key.partition(".")[0]
    meant = nearest(key, TABLE if "." in key else {**TABLE, **SECTIONS})
    siblings = [known for known in TABLE if known.startswith(f"{section}.")]
    raise ConfigError(
        f"{origin}: there is no setting {key}",
        f"Did you mean {meant}?" if meant else f"Known: {', '.join(siblings or SECTIONS)}.",
    )


def _resolve(
    written: Mapping[str, _Written], environ: Mapping[str, str]
) -> tuple[Settings, dict[str, str]]:
    from pathlib import Path

    # Other defaults lie under home, so it is read first.
    in_home = written.get("home") or _usual_home(environ)
    home = Path(str(_read(TABLE["home"], in_home)))
    values: dict[str, object] = {"home": home}
    origins = {"home": in_home.origin}
    for key, setting in TABLE.items():
        if key != "home":
            source = written.get(key) or _Written(setting.default, DEFAULT, home)
            values[key] = _read(setting, source)
            origins[key] = source.origin
    settings = build(values)
    _check_together(settings, origins)
    return settings, origins


def _usual_home(environ: Mapping[str, str]) -> _Written:
    usual = default_home(environ, os.geteuid())
    return _Written(str(usual), DEFAULT, usual)


def _read(setting: Setting, source: _Written) -> object:
    try:
        return setting.read(source.value, source.base)
    except ValueError as error:
        shown = "***" if setting.secret else repr(source.value)
        raise ConfigError(
            f"{source.origin}: {setting.key} must be {error}, not {shown}", setting.meaning
        ) from error


def _check_together(settings: Settings, origins: Mapping[str, str]) -> None:
    worker = settings.worker
    if worker.most_slots is not None and worker.most_slots < worker.slots:
        raise ConfigError(
            f"{origins['worker.most_slots']}: worker.most_slots ({worker.most_slots}) is less than"
            f" worker.slots ({worker.slots})",
            f"Set it to {worker.slots} or more, or leave it out.",
        )
    least = HEARTBEATS_BEFORE_LOST * worker.heartbeat
    if worker.lost_after < least:
        key = "worker.lost_after" if origins["worker.lost_after"] != DEFAULT else "worker.heartbeat"
        raise ConfigError(
            f"{origins[key]}: worker.lost_after ({worker.lost_after:g} s) is less than"
            f" {HEARTBEATS_BEFORE_LOST} x worker.heartbeat ({worker.heartbeat:g} s)",
            f"Set worker.lost_after to {least:g} s or more, or make worker.heartbeat shorter.",
        )
