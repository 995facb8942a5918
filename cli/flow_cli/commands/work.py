"""`flow work`: the worker role."""

from __future__ import annotations

from typing import Annotated

import typer

from flow.errors import UsageError
from flow_cli.invocation import invocation
from flow_cli.pages import Command, examples, single
from flow_cli.slots import SlotsOption, read_slots

app = single()


@app.command(
    cls=Command,
    epilog=examples("flow work --slots 4..16", "flow work --queues default,gpu --once"),
)
def work(
    context: typer.Context,
    slots: SlotsOption = None,
    queues: Annotated[
        str | None, typer.Option("--queues", metavar="A,B", help="Queues to serve.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End when nothing is queued and nothing runs.")
    ] = False,
    drain_timeout: Annotated[
        float | None,
        typer.Option("--drain-timeout", min=0, metavar="S", help="Seconds to wait when draining."),
    ] = None,
) -> None:
    """Claim queued tasks and run each try in a process of its own.

    SIGTERM drains: nothing new is claimed, what runs may end. A second SIGTERM ends it at once;
    tries that are cut short cost no retry.
    """
    from flow.roles.work import Settings, serve
    from flow.store import locate
    from flow.version import VERSION
    from flow_cli.roles import listen_dsn, prepare, service_manager, task_user

    named = None if queues is None else _names(queues)
    asked = None if slots is None else read_slots(slots)
    config = invocation(context).config
    worker = config.settings.worker
    if once and (asked.most if asked else worker.most_slots or worker.slots) == 0:
        raise UsageError(
            "--once with no slots runs nothing, and would never be done", "give it slots: --slots 1"
        )
    stop = prepare("work")
    dsn = locate.dsn(config.settings)
    serve(
        Settings(
            dsn=dsn,
            listen_dsn=listen_dsn(config, dsn),
            version=VERSION,
            home=config.settings.home,
            logs=config.settings.logs.root,
            key_file=config.settings.secrets.key_file,
            folders=config.settings.dags.folders,
            timezone=config.settings.dags.default_timezone,
            xcom_limit=worker.xcom_limit,
            pins=config.settings.dags.code == "pinned",
            code_wait=worker.code_wait,
            slots=asked.least if asked else worker.slots,
            most_slots=asked.most if asked else worker.most_slots,
            queues=named or worker.queues,
            heartbeat=worker.heartbeat,
            lost_after=worker.lost_after,
            lease_ratio=worker.lease_ratio,
            keeps_tries=worker.on_lost_contact == "keep",
            kill_grace=worker.kill_grace,
            drain_timeout=worker.drain_timeout if drain_timeout is None else drain_timeout,
            min_free_memory=worker.min_free_memory,
            task_user=task_user(worker.task_user),
        ),
        stop,
        once=once,
        manager=service_manager(),
    )


def _names(text: str) -> tuple[str, ...]:
    """The queues of `--queues`, each once. Raises `UsageError` for an empty name."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(
            f"--queues {text!r} has an empty name",
            "write names with commas between them, such as --queues default,gpu; without --queues "
            "the worker serves those of worker.queues",
        )
    return tuple(dict.fromkeys(names))
