"""Following a backfill to its end, until somebody looks away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_cli.backfill_page import again
from flow_cli.backfill_progress import follow
from flow_cli.output import Output

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment
    from flow.store.read.backfills import Backfill


def watch(printer: Output, deployment: Deployment, backfill: Backfill) -> Backfill:
    """Show on stderr how it is coming on; as it has ended. Ctrl-C says how to look again."""
    from flow.ops import backfills

    try:
        return follow(backfills.follow(deployment, backfill.id), printer.err).backfill
    except KeyboardInterrupt:
        printer.message(f"backfill {backfill.id} goes on; {again(backfill)}")
        raise
