"""What needs no screen is done while the screens are imported: asking for what is seen first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from flow.ops import changes
from flow.ops.deployment import Deployment, open_deployment
from flow_tui.session import READ_PATIENCE

if TYPE_CHECKING:
    from flow.settings import Settings

SHOWN: Final = 50
"""Failures, errors and coming runs that Home reads."""
AT_ONCE: Final = 1_000
"""DAGs that are read by one statement; the first ones are shown before the others are read."""


class Begun(NamedTuple):
    """What is known before the first paint."""

    answer: Any
    """What `first_question` asks for."""
    counter: int
    """The change counter, from before the question."""
    deployment: Deployment
    stack: ExitStack
    """Closes the deployment."""


class Beginning:
    """Under way from when it is made; `wait` ends it."""

    def __init__(self, settings: Settings, question: Callable[[Deployment], Any]) -> None:
        self._settings = settings
        self._question = question
        self._begun: Begun | None = None
        self._error: BaseException | None = None
        # A daemon: whoever gives up meanwhile does not wait for the database.
        self._thread = threading.Thread(target=self._work, name="flow-tui-begin", daemon=True)
        self._thread.start()

    def wait(self) -> Begun:
        """What has come of it. Raises what the question raises, and `DatabaseError`."""
        self._thread.join()
        if self._begun is None:
            assert self._error is not None
            raise self._error
        return self._begun

    def _work(self) -> None:
        try:
            self._begun = self._begin()
        except BaseException as error:
            self._error = error

    def _begin(self) -> Begun:
        with ExitStack() as stack:
            deployment = stack.enter_context(
                open_deployment(self._settings, patience=READ_PATIENCE)
            )
            counter = changes.counter(deployment)
            answer = self._question(deployment)
            return Begun(answer, counter, deployment, stack.pop_all())


def first_question(view: str, words: Sequence[str]) -> Callable[[Deployment], Any]:
    """Where `words` lead; without any, what a view shows first, None where it can wait.

    What the answer needs is imported here: two threads that import the same may wait for each other
    for ever.
    """
    if words:
        from flow_tui import places

        return partial(places.find, words=words)
    if view == "home":
        from flow.ops import overview

        return partial(overview.show, limit=SHOWN)
    if view == "dags":
        from flow.ops import dags

        return partial(dags.behind, dag_id="", limit=AT_ONCE)
    return lambda deployment: None
