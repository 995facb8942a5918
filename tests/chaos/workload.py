"""The work that goes on while faults strike: DAG files, and what must have come of each DAG.

Every DAG has an endless backlog of minutes from `FIRST` on, until it is told to make no more runs.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

FIRST: Final = datetime(2026, 3, 1)
POOL: Final = "narrow"
POOL_SLOTS: Final = 2
_HEAD: Final = """\
# revision {revision}
from datetime import datetime, timedelta

from effects import begin, mark, number, work
from flow import DAG, task

with DAG(
    "{dag_id}",
    schedule="* * * * *",
    start_date=datetime(2026, 3, 1),
    end_date={end},
    catchup=True,
    max_active_runs={active},
    default_args={{"retries": {retries}, "retry_delay": timedelta(seconds=0.2)}},
):
"""


@dataclass(frozen=True)
class Work:
    """One DAG: its tasks by id, its graph's text, and how its runs must end."""

    dag_id: str
    tasks: tuple[str, ...]
    graph: str
    succeeds: bool = True
    active: int = 2
    retries: int = 40
    """Killed tasks are failed tries, so what has to succeed gets more than there are kills."""

    def text(self, revision: int, *, ended: bool) -> str:
        """The DAG file; with `ended` it makes no run after the first."""
        head = _HEAD.format(
            dag_id=self.dag_id,
            revision=revision,
            active=self.active,
            retries=self.retries,
            end="datetime(2026, 3, 1)" if ended else "None",
        )
        return head + textwrap.indent(self.graph, "    ")


CHAIN = Work(
    "chain",
    tuple(f"link_{number}" for number in range(5)),
    """
last = None
for place in range(5):

    @task(task_id="link_" + str(place))
    def link():
        work(0.2)

    now = link()
    if last is not None:
        last >> now
    last = now
""",
)
FAN = Work(
    "fan",
    ("spread", *(f"part_{number}" for number in range(5)), "total"),
    """
@task
def spread():
    work(0.1)

def make_part(place):
    @task(task_id="part_" + str(place))
    def part():
        work(0.3)
        return place

    return part()

@task
def total(parts):
    assert parts == list(range(5)), parts
    work(0.1)

parts = [make_part(place) for place in range(5)]
spread() >> parts
total(parts)
""",
)
FLAKY = Work(
    "flaky",
    ("before", "fails_on_odd_tries", "after"),
    """
@task
def before():
    work(0.1)

@task
def fails_on_odd_tries():
    if number() % 2:
        begin(0.1)
        mark("failed")
        raise RuntimeError("an odd try")
    work(0.2)

@task
def after():
    work(0.1)

before() >> fails_on_odd_tries() >> after()
""",
)
SLOW = Work(
    "slow",
    ("takes_too_long_at_first", "after"),
    """
@task(execution_timeout=timedelta(seconds=1.5))
def takes_too_long_at_first():
    work(600 if number() == 1 else 0.2)

@task
def after():
    work(0.1)

takes_too_long_at_first() >> after()
""",
    active=1,
)
NARROW = Work(
    "narrow",
    ("left", "middle", "right"),
    f"""
def make(name):
    @task(task_id=name, pool="{POOL}")
    def crowded():
        work(0.3)

    return crowded()

left, middle, right = make("left"), make("middle"), make("right")
""",
)
DOOMED = Work(
    "doomed",
    ("fails", "never"),
    """
@task
def fails():
    begin(0.1)
    mark("failed")
    raise RuntimeError("it always fails")

@task
def never():
    work(0.1)

fails() >> never()
""",
    succeeds=False,
    active=1,
    retries=2,
)

ALL: Final = (CHAIN, FAN, FLAKY, SLOW, NARROW, DOOMED)


def intervals(count: int) -> list[str]:
    """The first so many intervals, as tasks name them."""
    return [(FIRST + timedelta(minutes=n)).strftime("%Y-%m-%dT%H:%M") for n in range(count)]
