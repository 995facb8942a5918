"""`flow systemd`: the roles as services."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli.confirm import confirm
from flow_cli.invocation import invocation
from flow_cli.options import DryRunOption, OutputOption, YesOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, group

if TYPE_CHECKING:
    from flow.ops.systemd import Plan, Scope

UNITS = Path(__file__).parent.parent / "units"

app = group(
    "Run the roles as services of systemd.",
    "flow systemd install --workers 2",
    "flow systemd print --user",
)

UserOption = Annotated[
    bool, typer.Option("--user", help="Units of this user instead of the system's.")
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=0, metavar="N", help="Workers; at first 1.")
]
SchedulersOption = Annotated[
    int | None, typer.Option("--schedulers", min=0, metavar="N", help="Schedulers; at first 1.")
]


@app.command(
    "print",
    cls=Command,
    epilog=examples("flow systemd print", "flow systemd print --user -o json"),
)
def print_(
    context: typer.Context, user: UserOption = False, output: OutputOption = Format.TEXT
) -> None:
    """Print the unit files that install would write on this machine."""
    files = _plan(context, user).files
    text = "\n".join(f"# {file.path}\n{file.text}" for file in files)
    Output(output).raw(
        text, {"files": [{"path": str(file.path), "text": file.text} for file in files]}
    )


@app.command(
    cls=Command,
    epilog=examples(
        "flow systemd install --workers 2 --schedulers 2", "flow systemd install --user --dry-run"
    ),
)
def install(
    context: typer.Context,
    user: UserOption = False,
    workers: WorkersOption = None,
    schedulers: SchedulersOption = None,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Write unit files, enable them, and say what to do next.

    The system's units go to /etc/systemd/system and take root. The roles run as the user flow,
    DAG files and tasks as flow-task or worker.task_user; both are made when they are missing. The
    database's URL is read from /etc/flow/database/url, as a credential that no task can read.

    A user's units go to ~/.config/systemd/user and take the database from the settings file.

    Running it again writes the units of this version. Files that are not as Flow has written them
    are left alone, and then nothing is written.
    """
    from flow.ops.systemd import NOT_OURS, install, require_right

    planned = _plan(context, user, workers=workers, schedulers=schedulers)
    printer = Output(output)
    if dry_run:
        both = list(zip(planned.files, planned.standing, strict=True))
        said = [
            f"{'in the way' if now in NOT_OURS else 'would write'}: {file.path} ({now})"
            for file, now in both
        ]
        said += [f"would enable: {unit}" for unit in planned.enabled]
        said += [f"would stop and disable: {unit}" for unit in planned.superfluous]
        standing = {str(file.path): now.value for file, now in both}
        record = {
            "dry_run": True,
            "scope": planned.scope,
            "files": list(standing),
            "standing": standing,
            "enabled": planned.enabled,
            "disabled": planned.superfluous,
        }
        printer.lines(said, record)
        return
    require_right(planned.scope, sys.argv[1:])
    done = install(planned, invocation(context).config)
    said = [f"wrote {path}" for path in done.files] + [f"enabled {unit}" for unit in done.enabled]
    printer.lines(said, {"dry_run": False, **done._asdict()})
    printer.message("\n".join(["Next:", *(f"  {step}" for step in done.next)]))


@app.command(
    cls=Command,
    epilog=examples("flow systemd uninstall", "flow systemd uninstall --user --yes"),
)
def uninstall(
    context: typer.Context,
    user: UserOption = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Stop the services and remove what install has written.

    Workers drain first: tasks that run may end. Users, logs, settings, keys and drop-ins stay, and
    so do unit files that somebody has changed.
    """
    from flow.ops.systemd import OURS, require_right, uninstall

    planned = _plan(context, user)
    printer = Output(output)
    ours = [str(file.path) for file in planned.at(*OURS)]
    if not ours:
        printer.message("nothing of Flow's is installed there")
    if dry_run:
        record = {"dry_run": True, "scope": planned.scope, "files": ours}
        printer.lines([f"would remove: {path}" for path in ours], record)
        return
    require_right(planned.scope, sys.argv[1:])
    if ours:
        confirm(f"Stop Flow's services and remove {len(ours)} files?", yes=yes)
    done = uninstall(planned)
    record = {"dry_run": False, **done._asdict()}
    printer.lines([f"removed {path}" for path in done.files], record)
    for path in done.left:
        printer.warning(f"{path} is not as Flow has written it, and stays")


def _plan(
    context: typer.Context,
    user: bool,
    *,
    workers: int | None = None,
    schedulers: int | None = None,
) -> Plan:
    from flow.ops.systemd import Scope, plan

    scope = Scope.USER if user else Scope.SYSTEM
    config = invocation(context).config
    return plan(_templates(scope), scope, config, workers=workers, schedulers=schedulers)


def _templates(scope: Scope) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (UNITS / scope).iterdir()}
