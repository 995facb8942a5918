"""Every example of every help page is typed into a shell, in one deployment, and does what it says.

The examples are those of the command tree. What a page shows stands in the story below where it can
work: a DAG file is changed before versions are compared, a run waits before it is held. A new
example turns the last test red until it has its place.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from absent import absent
from cases.deployment import Deployment, deployed
from cases.typed import CTRL_C, CTRL_D, YES, Typed, type_in
from flow_cli.application import root
from flow_cli.tree import pages
from waiting import limit, wait_until

EXAMPLES: Final = {example: page.path for page in pages(root()) for example in page.examples}
"""Each, and the last page on which it stands."""

SALES: Final = """
    import sys
    import time
    from pathlib import Path

    from flow import DAG, task

    with DAG("sales", schedule="@daily", start_date="2020-01-01", catchup="none",
             tags=["finance"], default_args={{"retries": 0}}):

        @task
        def extract():
            print("ERROR of somebody else")

        @task
        def load(ti=None, dag_run=None, ds=None):
            if dag_run.conf.get("country") == "ch":
                while not Path("{marks}/go").exists():
                    time.sleep(0.1)
            if ds == "2026-10-10" and not Path("{marks}/mended").exists():
                sys.exit("bad data")
            ti.xcom_push(key="rows", value=3)
            return 3

        loaded = load()
        [extract(), extract.override(task_id="extract_ch")()] >> loaded
"""
REPORT: Final = """
        @task
        def report():
            pass

        loaded >> report()
"""
OTHERS: Final = {
    "stock.py": """
    from flow import DAG, task

    with DAG("stock", schedule=None):

        @task
        def count():
            pass

        count()
    """,
    "sales_eu.py": """
    import sys

    from flow import DAG, task

    with DAG("sales_eu", schedule=None, default_args={"retries": 0}):

        @task
        def load():
            sys.exit("bad data")

        load()
    """,
    "stuck.py": """
    from flow import DAG, task

    with DAG("stuck", schedule="@daily", start_date="2026-01-01", catchup="none"):

        @task(pool="nowhere")
        def wait():
            pass

        wait()
    """,
    "daily_sales.py": """
    from pathlib import Path

    from flow import DAG, File, task

    with DAG("daily_sales", schedule="@daily", start_date="2026-01-01"):

        @task
        def extract():
            return 3

        @task(outlets=[File("sums-{{ ds }}.txt")])
        def load(ds=None):
            Path(f"sums-{ds}.txt").write_text("3")

        @task
        def publish():
            pass

        extract() >> load() >> publish()
    """,
}


OFFLINE: Final = (
    "flow config show",
    "flow config get worker.slots",
    "flow config get database.url --reveal",
    "flow --deployment test config show -o json",
    "flow config show -o json",
    "flow completion bash > ~/.local/share/bash-completion/completions/flow",
    "flow completion fish > ~/.config/fish/completions/flow.fish",
    "flow init sales",
    "flow check",
    "flow check dags --changed origin/main --strict --format github",
    "flow check dags/sales.py --import-budget 0.5",
    "flow plan --changed origin/main",
    "flow test dags/daily_sales.py",
    "flow test dags/daily_sales.py:daily_sales --date 2026-10-09 -t load+ --no-wait",
    "flow test dags/daily_sales.py --var country=ch --conn shop=postgres://me@localhost/shop",
    "flow test dags/daily_sales.py --jobs 8 --pool warehouse=2 --vars vars.json",
    "flow test dags/daily_sales.py --junit report.xml --github",
    "flow test dags/daily_sales.py --idempotent --date 2026-10-09 -t load",
)
"""They need no deployment."""
READS: Final = (
    "flow dags list",
    "flow dags list --tag finance --failed -o json",
    "flow dags show sales",
    "flow dags show sales -o json",
    "flow dags next sales",
    "flow dags next sales --from 2026-10-24 -n 40 -o json",
    "flow dags errors",
    "flow dags errors dags/sales.py",
    "flow dags warnings",
    "flow dags warnings dags/sales.py --slow 5",
    "flow dags versions sales",
    "flow dags diff sales",
    "flow dags diff sales 1 2 -o json",
    "flow runs list sales",
    "flow runs list --state failed --from -7d -o json",
    "flow runs list --where 'dag~sales_* and started_at>-2d'",
    "flow runs show sales latest",
    "flow runs show sales 2026-10-09 -o json",
    "flow tasks list sales latest",
    "flow tasks list sales 2026-10-09 -o json",
    "flow tasks tries sales latest load",
    "flow tasks render sales load",
    "flow tasks render sales load 2026-10-09",
    "flow tasks render sales load --date 2027-01-01 -o json",
    "flow logs sales latest",
    "flow logs sales latest '*' -f",
    "flow logs sales latest load",
    "flow logs sales 2026-10-09 extract load -f",
    "flow logs sales latest load --try 1 --grep ERROR --tail 20",
    "flow grid sales",
    "flow grid sales -n 60 -o json",
    "flow graph sales",
    "flow graph sales latest",
    "flow graph sales --dot > sales.dot",
    "flow why sales latest load",
    "flow why sales 2026-10-09",
    "flow why sales -o json",
    "flow clear sales --where 'state=failed and ended_at>-2d' --only-failed --dry-run",
    "flow clear 'sales_*' --from -7d --where 'state=failed' --only-failed --dry-run",
    "flow clear sales latest --where 'task.state=failed and pool=warehouse' --version run",
    "flow plan",
    "flow plan --from 2030-10-01 --to 2030-10-07 --all -o jsonl",
    "flow status",
    "flow status -o json",
    "flow audit --dag sales",
    "flow audit --who flow --since -7d -o jsonl",
    "flow audit --all",
    "flow events",
    "flow events --since -2h -o jsonl",
    "flow compare sales",
    "flow compare sales 2026-10-08 2026-10-09 --fields",
    "flow compare sales latest -o json",
    "flow db status",
    "flow db status -o json",
    "flow db check",
    "flow db check --all -o json",
    "flow db shell -c 'select now()'",
    "flow pools list",
    "flow pools list -o json",
    "flow pools show warehouse",
    "flow vars list",
    "flow vars get region",
    "flow conns list",
    "flow conns list -o json",
    "flow conns get warehouse",
    "flow conns get warehouse --reveal -o json",
    "flow conns test warehouse",
    "flow backfills list",
    "flow backfills list sales --active",
    "flow backfills show 7",
    "flow tui",
    "flow tui sales latest load",
    "flow tui --read-only",
)
"""They change nothing; the latest run has failed, and nothing of it is in the pool `warehouse`."""
REPAIRS: Final = (
    "flow clear sales latest --only-failed",
    "flow xcom list sales latest",
    "flow xcom list sales latest load -o json",
    "flow xcom get sales latest load",
    "flow xcom get sales latest load --key rows -o json",
    "flow clear sales 2026-10-09 -t load --downstream",
    "flow backfill sales --from -90d --reprocess all -t 'load+' --dry-run",
    "flow backfill sales --from 2026-09-24 --to 2026-09-30 --max-active-runs 4",
    "flow backfill sales --from 2026-10-01 --to 2026-10-07 --reprocess failed --yes --wait",
    "flow clear sales --from 2026-10-01 --to 2026-10-07 -t 'extract_*+' --yes",
    "flow tasks mark sales latest load success",
    "flow tasks mark sales 2026-10-09 'extract_*,load+' skipped --yes",
    "flow tasks mark sales load success --from 2026-10-01 --to 2026-10-07",
    "flow backfills pause 7",
    "flow backfills resume 7",
    "flow backfills cancel 7",
    "flow backfills pause -o json",
    "flow backfills cancel 8 --keep-running --yes",
    "flow backfills show 7 -f",
)
SETTINGS: Final = (
    "flow pools delete warehouse",
    "flow pools set default_pool -- -1",
    "flow vars set token @token.txt",
    "flow vars export variables.json",
    "flow vars delete region",
    "flow conns export connections.json",
    "flow conns delete warehouse",
)
SYSTEMD: Final = (
    "flow systemd print",
    "flow systemd print --user",
    "flow systemd print --user -o json",
    "flow systemd install --workers 2",
    "flow systemd install --workers 2 --schedulers 2",
    "flow systemd install --user --dry-run",
    "flow systemd uninstall",
    "flow systemd uninstall --user --yes",
)
"""In the order in which they work, over an /etc that nobody else sees."""
ANSWERS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "flow db shell": (("flow=", "\\q\n"),),
    "flow events sales latest -f": (("run started", CTRL_C),),
    "flow conns add warehouse --type postgres --host db.example --login etl --password @-": (
        ("", f"secret\n{CTRL_D}"),
    ),
    "flow tui": (("Home", "q"),),
    "flow tui sales latest load": (("bad data", "q"),),
    "flow tui --read-only": (("Home", "q"),),
}
CODES: Final = {
    "flow events sales latest -f": 130,
    "flow status": 1,  # tasks of DAG stuck wait for a pool that does not exist
    "flow status -o json": 1,
}
"""All others exit with 0."""
AT_A_TIME: Final = 3

pytestmark = pytest.mark.timeout(limit(300))

_BIN: Final = """#!/bin/sh
exec {python} -m flow_cli "$@"
"""
# An overlay cannot lie over one, as /tmp may be; and no systemd of this machine is to be asked.
_OWN_ETC: Final = """
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
mkdir -p /run/systemd
mount -t tmpfs tmpfs /run/systemd
echo ready
read -r _
"""


@dataclass
class Story:
    """One deployment, and the examples that have been typed in it."""

    deployment: Deployment
    environment: dict[str, str]
    played: dict[str, Typed] = field(default_factory=dict)

    def play(self, *examples: str, within: Sequence[str] = ()) -> None:
        """Type examples one after the other; each must end with its code."""
        for example in examples:
            done = type_in(
                example,
                self.deployment.project,
                self.environment,
                ANSWERS.get(example, (YES,)),
                within,
            )
            self.played[example] = done
            assert done.code == CODES.get(example, 0), f"{example}\n{done.shown}"
            assert "Traceback (most recent call last)" not in done.shown, done.shown

    def play_together(self, examples: Sequence[str]) -> None:
        """Type examples that do not get into each other's way, some at a time."""
        with ThreadPoolExecutor(AT_A_TIME) as threads:
            list(threads.map(self.play, examples))

    @contextmanager
    def running(self, example: str, *roles: str) -> Iterator[int]:
        """A long-lived example, as long as the block takes: until these roles are there, and then
        until it has drained. It must end with 0.
        """
        started = self.deployment.start(*shlex.split(example)[1:])
        self.deployment.wait_for_roles(*roles, watched=started)
        yield started.process.pid
        code = started.end() if started.process.poll() is None else started.wait()
        self.played[example] = Typed(code, started.text())
        assert code == 0, f"{example}\n{started.text()}"

    def do(self, *words: str, code: int = 0) -> None:
        """What the story needs beside the examples."""
        done = self.deployment.flow(*words)
        assert done.code == code, f"{words}: {done.err}"


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    """A project in a Git repository, and nothing that runs."""
    settings: dict[str, object] = {"parse.interval": 0.5, "worker.slots": 4}
    with deployed(settings) as made, _listener() as port:
        project, home = made.project, made.folder / "home"
        for folder in (".local/share/bash-completion/completions", ".config/fish/completions"):
            (home / folder).mkdir(parents=True)
        programs = made.folder / "bin"
        programs.mkdir()
        (programs / "flow").write_text(_BIN.format(python=shlex.quote(sys.executable)))
        (programs / "flow").chmod(0o755)
        with (project / "flow.toml").open("a") as file:
            file.write("[deployment.test]\nworker.slots = 1\n")
        made.write("sales.py", SALES.format(marks=made.folder / "m"))
        for name, text in OTHERS.items():
            made.write(name, text)
        (project / "vars.json").write_text('{"country": "ch"}')
        (project / "token.txt").write_text("secret")
        (project / "warehouse.uri").write_text(f"tcp://127.0.0.1:{port}")
        _commit(project)
        (made.folder / "t").mkdir()
        (made.folder / "t").chmod(0o755)
        yield Story(
            made,
            {
                **made.environment(),
                "HOME": str(home),
                "XDG_CACHE_HOME": str(home / ".cache"),
                "XDG_CONFIG_HOME": str(home / ".config"),
                "TMPDIR": str(made.folder / "t"),
                "PATH": f"{programs}:{os.environ['PATH']}",
            },
        )


@contextmanager
def _listener() -> Iterator[int]:
    """The port of somebody who answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def _commit(project: Path) -> None:
    """A repository whose main branch is what is there."""
    git = ("git", "-c", "user.name=somebody", "-c", "user.email=somebody@localhost")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        ("commit", "--quiet", "--message=start"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
    ):
        subprocess.run([*git, *words], cwd=project, check=True)


def test_what_needs_no_deployment(story: Story) -> None:
    story.play_together(("flow demo", "flow demo --keep", *OFFLINE))
    empty = story.deployment.folder / "empty"
    empty.mkdir()
    done = type_in("flow init", empty, story.environment)
    story.played["flow init"] = done
    assert done.code == 0, done.shown
    assert (empty / "flow.toml").exists()


def test_roles_one_by_one(story: Story) -> None:
    deployment = story.deployment
    story.play("flow db migrate")
    story.do("db", "shell", "-c", "alter table backfill alter backfill_id restart with 7")
    with story.running("flow parse --dags dags", "parse"):
        deployment.wait_for_dags("sales", "sales_eu", "stock", "stuck", "daily_sales")
        deployment.write("sales.py", (SALES + REPORT).format(marks=deployment.folder / "m"))
        wait_until(
            lambda: len(deployment.ask("dags", "versions", "sales")) == 2, "the second version"
        )
    story.play("flow parse --once --timeout 20", "flow schedule --once")
    with (
        story.running("flow schedule", "schedule"),
        story.running("flow work --slots 4..16", "work"),
    ):
        story.do("run", "sales", "--date", "2026-10-08", "--wait")
        story.play("flow run sales --date 2026-10-09 --wait")
        story.do("run", "sales", "--date", "2026-10-10", "--wait", code=1)
        story.do("run", "sales_eu", "--wait", code=1)
    story.play("flow work --queues default,gpu --once")


def test_everything_on_one_machine(story: Story) -> None:
    with story.running("flow up", "parse", "schedule", "work"):
        story.play("flow down --now")
    story.play("flow up --workers 2 --slots 4 --detach")
    story.deployment.wait_for_roles("parse", "schedule", "work")


def test_what_changes_nothing(story: Story) -> None:
    days = ("--from", "2026-10-01", "--to", "2026-10-02", "--yes", "--detach")
    story.do("backfill", "stuck", *days)
    story.do("backfill", "stuck", "--from", "2026-10-03", "--to", "2026-10-04", "--yes", "--detach")
    story.play(
        "flow pools set warehouse 4",
        "flow vars set region eu-west",
        "flow conns add warehouse --uri @warehouse.uri",
    )
    wait_until(
        lambda: any(
            "pool nowhere" in problem
            for problem in story.deployment.ask("status", codes=(0, 1))["problems"]
        ),
        "the tasks that wait in vain",
    )
    story.play_together(READS)
    story.play("flow db shell", "flow events sales latest -f")


def test_repairs(story: Story) -> None:
    deployment = story.deployment
    (deployment.folder / "m" / "mended").touch()
    story.play(REPAIRS[0])
    latest = deployment.ask("runs", "show", "sales", "latest")["run_id"]
    assert deployment.wait_for_run("sales", latest)["state"] == "success"
    story.play(*REPAIRS[1:])


def test_runs_are_held_paused_and_ended(story: Story) -> None:
    waits = '{"country": "ch"}'
    story.play(
        "flow dags pause sales stock",
        "flow run sales",
        "flow runs pause sales --where state=queued --yes",
        "flow runs resume sales --from -7d --yes",
        "flow dags unpause sales",
        f"flow run sales --conf '{waits}'",
        "flow tasks hold sales latest load",
        "flow tasks hold 'sales*' load --where state=running --yes",
        "flow tasks release sales latest load",
        "flow tasks release sales load --from -7d --yes",
        "flow runs pause sales latest",
        "flow runs resume sales latest",
    )
    since = "update run set started_at = now() - interval '2 days' where state = 'running'"
    story.do("db", "shell", "-c", since)
    story.play(
        "flow runs mark sales failed --where 'state=running and started_at<-1d' --dry-run",
        "flow runs cancel sales latest",
        "flow runs mark sales latest success",
    )
    story.do("run", "sales", "--date", "2020-01-02", "--wait")
    story.do("run", "sales", "--conf", waits)
    story.play(
        "flow runs cancel sales --from 2026-10-01 --yes",
        "flow runs delete 'sales*' --to -365d --where state=success --dry-run",
        "flow runs delete sales manual__2026-10-09T00:00:00+00:00",
    )


def test_settings(story: Story) -> None:
    story.play(*SETTINGS)
    story.do("vars", "delete", "token", "--yes")
    story.play("flow vars import variables.json")
    add = "flow conns add warehouse --type postgres --host db.example --login etl --password @-"
    story.play(add)
    story.do("conns", "delete", "warehouse", "--yes")
    story.play("flow conns import connections.json")


def test_dags_are_deleted(story: Story) -> None:
    deployment = story.deployment
    (deployment.folder / "m" / "go").touch()  # nothing is to hold it up
    story.do("dags", "pause", "stock")
    story.play("flow dags delete stock --begin-anew --dry-run")
    (deployment.project / "dags" / "sales.py").unlink()
    wait_until(lambda: deployment.ask("dags", "list", "--gone"), "the DAG to be gone")
    story.do("runs", "cancel", "sales", "--where", "dag=sales", "--yes")
    wait_until(
        lambda: deployment.flow("dags", "delete", "sales", "--dry-run").code == 0,
        "the processes of its runs to be dead",
    )
    story.play("flow dags delete sales")


def test_the_end(story: Story) -> None:
    story.play("flow down")


def test_services(story: Story, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can install services of the system")
    for program in ("systemctl", "unshare", "nsenter"):
        if shutil.which(program) is None:
            absent(f"{program} is not installed (Debian: systemd, util-linux)")
    with subprocess.Popen(
        ["unshare", "--mount", "bash", "-euc", _OWN_ETC, "bash", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        here = str(story.deployment.project)
        within = ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", f"--wd={here}"]
        story.play(*SYSTEMD, within=within)
        holder.stdin.close()


def test_every_example_has_been_typed(story: Story) -> None:
    """Last in this file."""
    unknown = {example for example in EXAMPLES if example not in story.played}
    assert unknown == set()
