"""Supervisor and zygote of one worker die at once: what may happen then, and no more.

Task processes die with their zygote, so no try goes on. What a task had started is left to nobody:
it runs on until the worker's successor on that host finds it by its marker; a service manager that
ends the cgroup does it at once. Without either, a scheduler frees the try after the threshold, and
the next one begins beside what the old one had started.
"""

from __future__ import annotations

import signal

from chaos import marks, processes
from chaos.deployment import Deployment, deployed
from chaos.member import Member
from chaos.story import Story
from chaos.workload import Work
from services import note, postgres_found
from waiting import wait_until

ENDLESS = Work(
    "endless",
    ("only",),
    """
@task
def only():
    import subprocess

    if number() == 1:
        subprocess.Popen(["sleep", "600"])
        work(600)
    work(0.2)

only()
""",
)


def test_supervisor_and_zygote_killed_at_once() -> None:
    story = Story(seed=0, kills=2, pace=0.0)
    with deployed(story.say, [ENDLESS]) as deployment:
        wanted = ("schedule 3", "parse 1", "work 1", "work 2")
        deployment.members = [one for one in deployment.members if one.name in wanted]
        deployment.begin(ended=True)
        worker, task, started = wait_until(lambda: _first_try(deployment), "what a task starts")
        worker.kept = False
        _kill_both(worker)
        wait_until(lambda: not processes.alive(task), "the end of the try itself")
        wait_until(lambda: _ended(deployment), "the end of the next try", seconds=60, pause=0.2)
        assert processes.alive(started)

        def is_cleared() -> bool:
            deployment.keep()
            return not processes.alive(started)

        worker.kept = True
        wait_until(is_cleared, "the end of what the try had started", pause=0.2)
        note(postgres_found())
        story.finish(deployment)
        story.judge(deployment)
    assert story.wrong == [], story.report()


def _first_try(deployment: Deployment) -> tuple[Member, int, int] | None:
    """The worker of the first try, its process, and what that has started."""
    deployment.keep()
    found = marks.read(deployment.world / "marks")
    if not found:
        return None
    task = found[0].pid
    below = processes.children(task)
    for member in deployment.of("work"):
        if below and member.zygote is not None and task in processes.children(member.zygote):
            return member, task, below[0]
    return None


def _ended(deployment: Deployment) -> bool:
    """Whether a try has ended, which a first one never does."""
    deployment.keep()
    return any(mark.event == "end" for mark in marks.read(deployment.world / "marks"))


def _kill_both(worker: Member) -> None:
    zygote, supervisor = worker.zygote, worker.pid
    assert zygote is not None
    assert supervisor is not None
    # Stopped first: neither sees the other die.
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in (zygote, supervisor):
            processes.send(one, number)
