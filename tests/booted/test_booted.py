"""Flow as services of a systemd that has really booted: one boot, and what was found in it."""

from __future__ import annotations

import json
import os
import re

import pytest

from absent import absent
from booted import container
from booted.container import Findings

ROLES = (
    "flow-parse.service",
    "flow-schedule@1.service",
    "flow-schedule@2.service",
    "flow-work@1.service",
)
WORK = "flow-work@1.service"
SCHEDULE = "flow-schedule@1.service"


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """What the driver has found."""
    if os.geteuid() != 0:
        pytest.skip("only root can boot a container")
    lacking = container.lacking()
    if lacking is not None:
        absent(lacking)
    folder = tmp_path_factory.mktemp("booted")
    found = container.boot(folder)
    if "done" not in found:
        said = "\n".join(path.read_text() for path in sorted((folder / "out").glob("*[gl]")))
        raise AssertionError(f"the driver did not come to its end: {found}\n{said}")
    return found


def test_a_file_of_somebody_else_stops_the_installation(findings: Findings) -> None:
    refused = findings["refused"]
    assert refused["code"] == 4
    assert "/etc/systemd/system/flow.target" in refused["err"]
    assert refused["kept"] == "[Unit]\nDescription=somebody else's\n"
    assert not refused["written"]


def test_installation_enables_what_was_asked_for(findings: Findings) -> None:
    installed = json.loads(findings["installed"]["out"])
    assert findings["installed"]["code"] == 0
    assert installed["enabled"] == [*ROLES, "flow.target"]
    again = json.loads(findings["installed again"]["out"])
    assert again["dry_run"]
    assert set(again["standing"]) == set(again["files"])
    assert set(again["standing"].values()) == {"same"}
    assert again["enabled"] == installed["enabled"]


def test_roles_are_ready_once_the_database_has_answered_and_not_before(findings: Findings) -> None:
    waiting = findings["without a database"]["units"]
    ready = findings["ready"]
    for role in ROLES:
        assert waiting[role]["ActiveState"] == "activating"
        assert waiting[role]["StatusText"] == "waiting for the database"
        assert int(waiting[role]["ActiveEnterTimestampMonotonic"]) == 0
        assert ready["units"][role]["ActiveState"] == "active"
        entered = int(ready["units"][role]["ActiveEnterTimestampMonotonic"]) / 1e6
        assert entered > ready["database_at"]
    # It had outlasted the limit on starting, because it had asked for more.
    assert waiting[SCHEDULE]["MainPID"] == ready["units"][SCHEDULE]["MainPID"]


def test_a_task_reads_no_login_and_is_the_first_to_go_when_memory_is_short(
    findings: Findings,
) -> None:
    facts = findings["looked"]["facts"]
    assert 0 != facts["uid"] != facts["worker_uid"] != 0
    refused = ("credential", "source", "key", "environ", "memory")
    assert {name: facts[name] for name in refused} == dict.fromkeys(refused, "PermissionError")
    assert facts["secret_names"] == []
    assert {int(word, 16) for word in facts["capabilities"]} == {0}
    assert facts["oom_score_adj"] > facts["worker_oom_score_adj"]


def test_its_log_is_written_and_can_be_read(findings: Findings) -> None:
    log = findings["looked"]["log"]
    assert log["code"] == 0
    assert "Done. Returned value was: None" in log["out"]


def test_a_killed_supervisor_is_started_again_and_its_try_costs_no_retry(
    findings: Findings,
) -> None:
    killed, tries = findings["killed"], findings["tried again"]["tries"]
    assert killed["after"]["NRestarts"] == "1"
    assert killed["after"]["MainPID"] != killed["before"]["MainPID"]
    assert not killed["first_alive"]
    assert [one["state"] for one in tries] == ["lost", "success"]  # the task has retries=0


def test_the_watchdog_ends_a_scheduler_that_hangs(findings: Findings) -> None:
    hung = findings["hung"]
    assert hung["after"]["MainPID"] != hung["before"]["MainPID"]
    said = [message for _, message in hung["journal"]]
    assert any("Watchdog timeout" in line for line in said)
    assert "Fatal Python error: Aborted" in said  # and where: a traceback follows


def test_the_status_line_has_figures(findings: Findings) -> None:
    texts = findings["status"]["texts"]
    assert texts[WORK] == "working: 1 of 16 slots in use, 0 results to report"
    assert texts["flow-parse.service"] == "parsing: 1 files, 0 waiting, 0 being imported"
    assert texts[SCHEDULE].startswith("scheduling: ")


def test_stopping_lets_a_task_end_beyond_the_limit(findings: Findings) -> None:
    draining, drained = findings["draining"]["unit"], findings["drained"]
    assert (draining["ActiveState"], draining["SubState"]) == ("deactivating", "stop-sigterm")
    assert draining["StatusText"] == "draining: 1 of 16 slots in use, 0 results to report"
    assert (drained["unit"]["ActiveState"], drained["unit"]["Result"]) == ("inactive", "success")
    assert [one["state"] for one in drained["tries"]] == ["success"]


def test_the_journal_has_priorities_and_no_second_time(findings: Findings) -> None:
    records = [tuple(one) for one in findings["journal"]["records"]]
    assert ("6", "INFO flow.roles.work.role: draining") in records
    freed = re.compile(r"WARNING flow\.roles\.work\.succession: worker \d+ had died here")
    assert any(number == "4" and freed.match(text) for number, text in records)
    for number, text in records:
        assert text.startswith({"6": "INFO ", "4": "WARNING "}[number])


def test_uninstalling_takes_away_what_was_written_and_nothing_else(findings: Findings) -> None:
    uninstalled = findings["uninstalled"]
    assert uninstalled["code"] == 0, uninstalled["err"]
    assert set(uninstalled["running"].values()) == {"inactive"}
    drop_ins = [path for path in uninstalled["left"] if path.endswith(".d")]
    assert uninstalled["left"] == drop_ins
    assert len(drop_ins) == 3
    assert len(uninstalled["kept"]) == 2


def test_an_ordinary_user_has_units_of_its_own(findings: Findings) -> None:
    refused, installed = findings["a user without a database"], findings["a user's installation"]
    assert refused["code"] == 2
    assert "set [database] url in flow.toml" in refused["err"]
    assert installed["code"] == 0, installed["err"]
    assert "loginctl enable-linger" in installed["err"]
    before, after = findings["a user's run"], findings["a user's run after a kill"]
    assert before["state"] == after["state"] == "success"
    assert before["value"]["value"] == before["uid"] != 0
    uninstalled = findings["a user's uninstallation"]
    assert uninstalled["code"] == 0, uninstalled["err"]
    assert set(uninstalled["states"]) == {"inactive"}
    assert all(path.endswith(".d") for path in uninstalled["left"])
