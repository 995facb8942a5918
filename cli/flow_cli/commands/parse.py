"""`flow parse`: the DAG processor role."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flow_cli.invocation import invocation
from flow_cli.pages import Command, examples, single

app = single()


@app.command(
    cls=Command, epilog=examples("flow parse --dags dags", "flow parse --once --timeout 20")
)
def parse(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="Look at every file once, then end.")
    ] = False,
    dags: Annotated[
        list[Path] | None, typer.Option("--dags", metavar="DIR", help="Folder of DAG files.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", min=0.1, metavar="S", help="Seconds an import may take."),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            min=1,
            metavar="N",
            help="Files imported at once; as many slow ones may go on beside them.",
        ),
    ] = 2,
) -> None:
    """Import DAG files, each in a process of its own, and store the DAGs they define.

    A file is imported again only when it has changed, or a local module that it imports, or a
    variable that it reads. Several processors share the files. More is in flow-dag-files(7).
    """
    from flow.roles.parse import Settings, serve
    from flow.roles.stored import reader
    from flow.store import locate
    from flow.version import VERSION
    from flow_cli.roles import listen_dsn, prepare, service_manager, task_user

    config = invocation(context).config
    settings = config.settings
    stop = prepare("parse")
    dsn = locate.dsn(settings)
    server = locate.embedded(settings)
    serve(
        Settings(
            dsn=dsn,
            listen_dsn=listen_dsn(config, dsn),
            version=VERSION,
            folders=tuple(dags or settings.dags.folders),
            read=reader(settings.secrets.key_file),
            timeout=timeout or settings.parse.timeout,
            interval=settings.parse.interval,
            memory=settings.parse.memory,
            regexp_ignore=settings.parse.airflowignore == "regexp",
            processes=processes,
            timezone=settings.dags.default_timezone,
            paused_at_creation=settings.dags.paused_at_creation,
            user=task_user(settings.worker.task_user),
            heartbeat=settings.worker.heartbeat,
            lost_after=settings.worker.lost_after,
            keep=lambda: server.pids,
        ),
        stop,
        once=once,
        manager=service_manager(),
    )
