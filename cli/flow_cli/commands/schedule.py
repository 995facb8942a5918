"""`flow schedule`: the scheduler role."""

from __future__ import annotations

from typing import Annotated

import typer

from flow_cli.invocation import invocation
from flow_cli.pages import Command, examples, single

app = single()


@app.command(cls=Command, epilog=examples("flow schedule", "flow schedule --once"))
def schedule(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="Work until nothing is due or ready, then end.")
    ] = False,
) -> None:
    """Create due runs, decide what may go, find lost workers.

    Any number may run side by side, on any number of machines. SIGTERM ends it.
    """
    from functools import partial

    from flow.roles.schedule import Settings, Shares, serve
    from flow.store import locate
    from flow.version import VERSION
    from flow_cli.roles import listen_dsn, prepare, service_manager

    config = invocation(context).config
    stop = prepare("schedule")
    dsn = locate.dsn(config.settings)
    serve(
        Settings(
            dsn=dsn,
            listen_dsn=listen_dsn(config, dsn),
            version=VERSION,
            heartbeat=config.settings.worker.heartbeat,
            lost_after=config.settings.worker.lost_after,
            poll=config.settings.scheduler.poll_interval,
            sweep=config.settings.scheduler.sweep_interval,
            starvation_after=config.settings.scheduler.starvation_after,
            shares=Shares(*config.settings.shares),
            revive=partial(locate.revive, config.settings),
        ),
        stop,
        once=once,
        manager=service_manager(),
    )
