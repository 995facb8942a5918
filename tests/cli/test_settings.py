"""Settings: where they are found, which value wins, and what a mistake is answered with."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from flow import config as configuration
from flow.config import Config, default_home, load
from flow.errors import ConfigError
from flow.settings import SECTIONS, TABLE, Settings


class Place(NamedTuple):
    """A folder to look for settings in, and an environment."""

    folder: Path
    environ: dict[str, str]

    def write(self, text: str, name: str = "flow.toml") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def load(self, **keywords) -> Config:
        return load(environ=self.environ, folder=self.folder, **keywords)

    def mistake(self, text: str, **keywords) -> tuple[str, str]:
        """Message and hint for a file with this text; `FILE` stands for the file."""
        file = self.write(text)
        with pytest.raises(ConfigError) as caught:
            self.load(**keywords)
        return caught.value.message.replace(str(file), "FILE"), caught.value.hint


@pytest.fixture
def place(tmp_path, monkeypatch) -> Place:
    monkeypatch.setattr(configuration, "MACHINE_FILE", str(tmp_path / "etc" / "flow.toml"))
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    return Place(folder, {"HOME": str(tmp_path / "home"), "FLOW_HOME": str(tmp_path / "state")})


@pytest.mark.parametrize(
    ("program", "costly"),
    [
        ("import flow.config", ("pathlib", "dataclasses", "inspect", "msgspec", "tomllib", "json")),
        ("import flow.config; flow.config.load()", ("dataclasses", "msgspec", "tomllib", "json")),
    ],
)
def test_settings_load_no_costly_module(place, program, costly):
    ended = subprocess.run(
        [sys.executable, "-c", f"{program}; import sys; print(*sys.modules)"],
        cwd=place.folder,
        env={**place.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = ended.stdout.split()
    assert "flow.settings" in loaded
    assert [name for name in costly if name in loaded] == []


def test_tree_and_table_have_the_same_keys():
    sections = {f"{name}.{field}" for name in SECTIONS for field in SECTIONS[name]._fields}
    top = set(Settings._fields) - set(SECTIONS)
    assert top | sections == set(TABLE)


def test_defaults_lie_under_home(place):
    config = place.load()
    state = Path(place.environ["FLOW_HOME"])
    assert config.settings.home == state
    assert config.settings.logs.root == state / "logs"
    assert config.settings.dags.folders == (state / "dags",)
    assert config.settings.secrets.key_file == state / "secrets.key"
    assert config.origins["home"] == "FLOW_HOME"
    assert config.origins["logs.root"] == "default"
    assert (config.file, config.deployment) == (None, None)


def test_promised_defaults(place):
    worker = place.load().settings.worker
    assert (worker.heartbeat, worker.lost_after, worker.lease_ratio) == (5, 300, 0.9)
    assert (worker.kill_grace, worker.min_free_memory) == (30, 0.1)
    assert worker.on_lost_contact == "stop"
    assert place.load().settings.parse.timeout == 60
    assert place.load().settings.dags.paused_at_creation is True
    assert (place.load().settings.dags.code, worker.code_wait) == ("latest", 60)


def test_shares_are_tables_of_names(place):
    place.write('[shares.dags]\n"team.sales" = 2\n\n[shares.owners]\nann = 0.5\n')
    assert place.load().settings.shares == ({"team.sales": 2.0}, {"ann": 0.5}, 0.25)
    place.environ["FLOW_SHARES_DAGS"] = "sales=3, stock=0.1"
    assert place.load().settings.shares.dags == {"sales": 3.0, "stock": 0.1}


def test_what_stands_in_for_a_deployment_in_a_rehearsal(place):
    place.write(
        "[test]\npools = { warehouse = 2 }\n[test.variables]\nregion = [1, 'ch']\n"
        "[test.connections]\nshop = 'postgres://me@h/d'\n"
    )
    assert place.load().settings.test == (
        {"region": [1, "ch"]},
        {"shop": "postgres://me@h/d"},
        {"warehouse": 2},
    )
    place.environ["FLOW_TEST_POOLS"] = "warehouse=3, small=0"
    place.environ["FLOW_TEST_VARIABLES"] = '{"region": "de"}'
    assert place.load().settings.test.pools == {"warehouse": 3, "small": 0}
    assert place.load().settings.test.variables == {"region": "de"}


def test_home_of_root_and_of_others():
    assert default_home({"HOME": "/h"}, 0) == Path("/var/lib/flow")
    assert default_home({"HOME": "/h"}, 1000) == Path("/h/.local/share/flow")
    assert default_home({"HOME": "/h", "XDG_DATA_HOME": "/d"}, 1000) == Path("/d/flow")


def test_a_user_without_a_home_needs_none_where_flow_is_told_its_own(place, monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    del place.environ["HOME"], place.environ["FLOW_HOME"]
    with pytest.raises(ConfigError) as refused:
        place.load()
    assert "no home folder" in refused.value.message
    assert "FLOW_HOME" in refused.value.hint
    place.environ["FLOW_HOME"] = "/state"
    assert place.load().settings.home == Path("/state")


def test_a_path_below_the_home_of_nobody_is_refused(place):
    place.write('[logs]\nroot = "~no-such-user/logs"\n')
    with pytest.raises(ConfigError, match=r"logs.root.*~no-such-user is nobody's home"):
        place.load()


def test_the_nearest_file_is_read(place):
    outer = place.write("worker.slots = 1\n", "../flow.toml")
    assert place.load().settings.worker.slots == 1
    assert place.load().file == outer.resolve()
    place.write("worker.slots = 2\n")
    assert place.load().settings.worker.slots == 2
    named = place.write("worker.slots = 3\n", "other.toml")
    assert place.load(file=Path("other.toml")).settings.worker.slots == 3
    place.environ["FLOW_CONFIG"] = str(named)
    assert place.load().settings.worker.slots == 3


def test_without_a_project_the_users_file_and_then_the_machines_is_read(place):
    place.write("worker.slots = 1\n", configuration.MACHINE_FILE)
    assert place.load().settings.worker.slots == 1
    place.write("worker.slots = 2\n", place.environ["HOME"] + "/.config/flow/flow.toml")
    assert place.load().settings.worker.slots == 2


def test_paths_start_from_the_folder_of_whoever_wrote_them(place):
    place.write('[dags]\nfolders = ["x", "/y"]\n[logs]\nroot = "~/logs"\n', "../flow.toml")
    place.environ["FLOW_SECRETS_KEY_FILE"] = "key"
    settings = place.load().settings
    assert settings.dags.folders == (place.folder.parent / "x", Path("/y"))
    assert settings.secrets.key_file == place.folder / "key"
    assert settings.logs.root == Path("~/logs").expanduser()


def test_the_environment_overrides_the_file(place):
    file = place.write("[worker]\nslots = 2\nqueues = ['a']\n")
    place.environ.update({"FLOW_WORKER_SLOTS": "4", "FLOW_DAGS_PAUSED_AT_CREATION": "off"})
    place.environ["FLOW_DAGS_FOLDERS"] = "x,y"
    config = place.load()
    assert config.settings.worker.slots == 4
    assert config.settings.worker.queues == ("a",)
    assert config.settings.dags.paused_at_creation is False
    assert config.settings.dags.folders == (place.folder / "x", place.folder / "y")
    assert config.origins["worker.slots"] == "FLOW_WORKER_SLOTS"
    assert config.origins["worker.queues"] == str(file)


def test_a_credential_of_systemd_overrides_the_environment(place):
    place.write('database.url = "postgresql://file/db"\n')
    place.environ["FLOW_DATABASE_URL"] = "postgresql://environment/db"
    place.environ["CREDENTIALS_DIRECTORY"] = str(place.folder / "credentials")
    assert place.load().settings.database.url == "postgresql://environment/db"
    given = place.write("postgresql://credential/db\n", "credentials/flow_database_url")
    place.write("7", "credentials/flow_worker_slots")
    config = place.load()
    assert config.settings.database.url == "postgresql://credential/db"
    assert config.origins["database.url"] == str(given)
    assert config.settings.worker.slots == 16  # only secrets are looked for
    given.write_text("mysql://user:password@credential/db")
    with pytest.raises(ConfigError) as caught:
        place.load()
    assert "password" not in caught.value.message
    given.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be read"):
        place.load()


def test_an_empty_variable_is_none(place):
    place.environ.update({"FLOW_WORKER_SLOTS": "", "FLOW_CONFIG": "", "FLOW_DEPLOYMENT": ""})
    assert place.load().settings.worker.slots == 16


DEPLOYMENTS = """
database.url = "postgresql://base/db"
[deployment.test.database]
url = "postgresql://test/db"
[deployment.prod]
home = "/srv/flow"
"""


def test_a_deployment_of_the_environment_lies_between_file_and_environment(place):
    file = place.write(DEPLOYMENTS)
    place.environ["FLOW_DEPLOYMENT"] = "test"
    config = place.load()
    assert config.settings.database.url == "postgresql://test/db"
    assert config.origins["database.url"] == f"{file} [deployment.test]"
    place.environ["FLOW_DATABASE_URL"] = "postgresql://environment/db"
    assert place.load().settings.database.url == "postgresql://environment/db"


def test_a_deployment_of_the_command_line_overrides_the_environment(place):
    place.write(DEPLOYMENTS)
    place.environ.update(
        {"FLOW_DATABASE_URL": "postgresql://environment/db", "FLOW_DEPLOYMENT": "x"}
    )
    assert place.load(deployment="test").settings.database.url == "postgresql://test/db"
    prod = place.load(deployment="prod")
    assert prod.settings.database.url == "postgresql://environment/db"
    assert prod.settings.home == Path("/srv/flow")
    assert prod.settings.logs.root == Path("/srv/flow/logs")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90), ('"90s"', 90), ('"5m"', 300), ('"1.5h"', 5400), ("2.5", 2.5)],
)
def test_durations(place, written, seconds):
    place.write(f"parse.timeout = {written}\n")
    assert place.load().settings.parse.timeout == seconds


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "worker.slot = 1",
            "FILE: there is no setting worker.slot",
            "Did you mean worker.slots?",
        ),
        ("wroker.slots = 1", "FILE: there is no setting wroker", "Did you mean worker?"),
        (
            "logs.zzzz = 1",
            "FILE: there is no setting logs.zzzz",
            "Known: logs.root.",
        ),
        ("worker = 1", "FILE: worker must be a table", "Write its keys below a line [worker]."),
        (
            "worker.slots = -1",
            "FILE: worker.slots must be a whole number of at least 0, not -1",
            "How many tries a worker runs at once.",
        ),
        (
            "worker.slots = true",
            "FILE: worker.slots must be a whole number of at least 0, not True",
            "How many tries a worker runs at once.",
        ),
        (
            "worker.lost_after = 14",
            "FILE: worker.lost_after (14 s) is less than 3 x worker.heartbeat (5 s)",
            "Set worker.lost_after to 15 s or more, or make worker.heartbeat shorter.",
        ),
        (
            "[worker]\nslots = 8\nmost_slots = 4",
            "FILE: worker.most_slots (4) is less than worker.slots (8)",
            "Set it to 8 or more, or leave it out.",
        ),
        (
            'dags.code = "newest"',
            'FILE: dags.code must be "latest" or "pinned", not \'newest\'',
            "Which code the tasks of a run use where the DAG does not say it:"
            ' "latest", as it is when they start, or "pinned", that of the version the run has.',
        ),
        (
            'worker.on_lost_contact = "hope"',
            'FILE: worker.on_lost_contact must be "stop" or "keep", not \'hope\'',
            "What happens to tries when their worker cannot reach the database for the lease:"
            ' "stop" ends them; "keep" lets them go on, so that a try that was declared lost'
            " meanwhile may overlap the next one, and reports afterwards what still counts.",
        ),
        (
            'database.url = "postgresql+psycopg2://u:secret@h/db"',
            'FILE: database.url must be a URL that begins with "postgresql://", not ***',
            "URL of the PostgreSQL database."
            " Without one, Flow runs an embedded PostgreSQL under home.",
        ),
        (
            'dags.default_timezone = "Europe/Berlyn"',
            'FILE: dags.default_timezone must be the name of a time zone, such as "Europe/Berlin",'
            " not 'Europe/Berlyn'",
            "Time zone of DAGs and dates that name none.",
        ),
    ],
)
def test_a_mistake_names_file_key_and_remedy(place, text, message, hint):
    assert place.mistake(text) == (message, hint)


@pytest.mark.parametrize(
    "text",
    [
        "worker.lease_ratio = 1",
        "worker.min_free_memory = 0",
        "worker.heartbeat = 0",
        "worker.heartbeat = nan",
        "parse.timeout = inf",
        'parse.timeout = "5 parsecs"',
        "worker.kill_grace = -1",
        "worker.queues = []",
        "worker.queues = [1]",
        'worker.queues = ["a", " "]',
        'worker.task_user = ""',
        "dags.paused_at_creation = 1",
        "secrets.key_file = 5",
        "shares.dags = 3",
        "shares.owners = { ann = 0 }",
        'shares.owners = { ann = "much" }',
        "shares.backfills = -1",
        "scheduler.starvation_after = 0",
        "test.pools = { warehouse = -1 }",
        "test.variables = [1]",
        "test.variables = { since = 2026-10-09 }",
    ],
)
def test_illegal_values_are_refused(place, text):
    message, _ = place.mistake(text)
    assert re.fullmatch(rf"FILE: {text.partition(' ')[0]} must be .+, not .+", message)


@pytest.mark.parametrize("queues", ["a,,b", ",", "a,"])
def test_an_empty_name_in_a_list_is_refused(place, queues):
    place.environ["FLOW_WORKER_QUEUES"] = queues
    with pytest.raises(ConfigError) as caught:
        place.load()
    assert caught.value.message == (
        "FLOW_WORKER_QUEUES: worker.queues must be a list of texts, none of them empty, "
        f"not {queues!r}"
    )


def test_a_file_that_is_no_toml_is_named_with_the_line(place):
    message, _ = place.mistake("[worker\n")
    assert message.startswith("FILE is not valid TOML: ")
    assert "line 1" in message


def test_a_missing_named_file_is_an_error(place):
    with pytest.raises(ConfigError, match=r"there is no settings file .*/gone\.toml"):
        place.load(file=Path("gone.toml"))


def test_an_unknown_deployment_is_an_error_with_the_nearest_name(place):
    assert place.mistake(DEPLOYMENTS, deployment="prd") == (
        "FILE has no deployment 'prd'",
        "Did you mean prod? A deployment is a table [deployment.prd] of flow.toml.",
    )


def make_folder(path: Path) -> str:
    path.mkdir(parents=True)
    return f"{path} is a folder"


def make_pipe(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    return f"{path} is no ordinary file"


def make_dangling_link(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("nowhere.toml")
    return f"{path} is a link to a file that is not there"


@pytest.mark.parametrize("make", [make_folder, make_pipe, make_dangling_link])
@pytest.mark.parametrize("where", ["nearest", "users", "machines", "named", "in the environment"])
def test_what_has_the_name_of_a_settings_file_and_is_none_is_an_error(place, make, where):
    if where == "nearest":
        place.write("worker.slots = 1\n", "../flow.toml")  # is not read instead
    path = {
        "nearest": place.folder / "flow.toml",
        "users": Path(place.environ["HOME"], ".config/flow/flow.toml"),
        "machines": Path(configuration.MACHINE_FILE),
    }.get(where, place.folder / "mine.toml")
    message = make(path)
    if where == "in the environment":
        place.environ["FLOW_CONFIG"] = "mine.toml"
    with pytest.raises(ConfigError) as caught:
        place.load(file=Path("mine.toml") if where == "named" else None)
    assert caught.value.message == message


def test_a_link_to_a_settings_file_is_one(place):
    place.write("worker.slots = 1\n", "other.toml")
    (place.folder / "flow.toml").symlink_to("other.toml")
    assert place.load().settings.worker.slots == 1


def test_an_unreadable_file_is_an_error(place, monkeypatch):
    # Root, under which tests may run, can read every file, so the refusal is played.
    def refuse(path: Path, encoding: str) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    file = place.write("")
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(ConfigError) as caught:
        place.load()
    assert caught.value.message == f"{file} cannot be read: Permission denied"
