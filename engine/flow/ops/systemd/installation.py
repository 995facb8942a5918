"""Putting units in place and away."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from flow.errors import Conflict, UsageError
from flow.ops.systemd import systemctl, unit_files, written
from flow.ops.systemd.unit_files import DATABASE, Scope, UnitFile
from flow.ops.systemd.written import NOT_OURS, OURS, Standing
from flow.secrets import keys

if TYPE_CHECKING:
    from flow.config import Config

TARGET: Final = "flow.target"
_PARSE: Final = "flow-parse.service"
_TEMPLATES: Final = ("flow-schedule@", "flow-work@")


class Plan(NamedTuple):
    """What an installation is made of: its files, and what is at their places now.

    `superfluous` are numbered instances that are enabled beyond the wanted number.
    """

    scope: Scope
    files: list[UnitFile]
    standing: list[Standing]
    enabled: list[str]
    superfluous: list[str]

    def at(self, *standing: Standing) -> list[UnitFile]:
        """The files at whose places there is one of these."""
        both = zip(self.files, self.standing, strict=True)
        return [file for file, found in both if found in standing]


class Installed(NamedTuple):
    """What was put in place, and what to do next."""

    scope: Scope
    files: list[str]
    enabled: list[str]
    next: list[str]


class Uninstalled(NamedTuple):
    """What was taken away, and what was left because somebody has changed it."""

    scope: Scope
    files: list[str]
    left: list[str]


def plan(
    templates: Mapping[str, str],
    scope: Scope,
    config: Config,
    *,
    workers: int | None = None,
    schedulers: int | None = None,
) -> Plan:
    """What there is to install. Without a number there are as many instances as before, or one."""
    files = unit_files.fill(templates, scope, config, systemctl.version())
    before = _enabled(scope)
    wanted = {TARGET, _PARSE}
    for template, number in zip(_TEMPLATES, (schedulers, workers), strict=True):
        numbered = {name for name in before if _is_numbered(name, template)}
        made = {f"{template}{n + 1}.service" for n in range(1 if number is None else number)}
        wanted |= made if number is not None or not numbered else numbered
    superfluous = [
        name
        for name in sorted(before - wanted)
        if any(_is_numbered(name, template) for template in _TEMPLATES)
    ]
    standing = [written.standing(file) for file in files]
    return Plan(scope, files, standing, sorted(wanted), superfluous)


def require_right(scope: Scope, arguments: Sequence[str]) -> None:
    """Raise `UsageError` for whoever may not change these units, with the command that would work.

    `arguments` are those of this command.
    """
    if scope is Scope.SYSTEM and os.geteuid() != 0:
        again = shlex.join(["sudo", *unit_files.COMMAND, *arguments])
        raise UsageError(
            "units of the system are root's to change",
            f"run: {again}   or add --user for units of your own",
        )


def install(planned: Plan, config: Config) -> Installed:
    """Write and enable the units.

    Nothing is written when a file is in the way (`Conflict`), or when a user's settings do not say
    where the database is (`UsageError`).
    """
    _require_database(planned.scope, config)
    in_the_way = planned.at(*NOT_OURS)
    if in_the_way:
        raise Conflict(
            f"not as Flow has written it: {', '.join(str(file.path) for file in in_the_way)}",
            "move it away and keep your changes in a drop-in (systemctl edit)."
            " Nothing was written.",
        )
    for file in planned.files:
        written.write(file)
        if not file.is_unit:
            systemctl.make_users(file)
    if planned.scope is Scope.SYSTEM:
        # The units name it, so it has to be there before something is stored for the first time.
        keys.load_or_make(config.settings.secrets.key_file, environ={})
    systemctl.reload(planned.scope)
    systemctl.disable(planned.scope, planned.superfluous)
    systemctl.enable(planned.scope, planned.enabled)
    systemctl.stop(planned.scope, planned.superfluous)
    files = [str(file.path) for file in planned.files]
    return Installed(planned.scope, files, planned.enabled, _next_steps(planned.scope))


def uninstall(planned: Plan) -> Uninstalled:
    """Stop everything (workers drain), and remove what `install` has written.

    Users, state, settings and drop-ins stay.
    """
    ours = planned.at(*OURS)
    left = [str(file.path) for file in planned.at(*NOT_OURS)]
    units = [file.path.name for file in ours if file.is_unit]
    systemctl.stop(planned.scope, [name.replace("@.", "@*.") for name in units])
    systemctl.disable(planned.scope, units)
    for file in ours:
        file.path.unlink(missing_ok=True)
    systemctl.reload(planned.scope)
    return Uninstalled(planned.scope, [str(file.path) for file in ours], left)


def _enabled(scope: Scope) -> set[str]:
    """The units that are enabled for the target."""
    folder, _ = unit_files.folders(scope)
    return {link.name for link in (folder / f"{TARGET}.wants").glob("*")}


def _is_numbered(name: str, template: str) -> bool:
    return re.fullmatch(rf"{re.escape(template)}[0-9]+\.service", name) is not None


def _require_database(scope: Scope, config: Config) -> None:
    """A user's units read the settings at each start, so the database has to be in there."""
    origin = config.origins["database.url"]
    if scope is Scope.SYSTEM or (config.settings.database.url and not origin.startswith("FLOW_")):
        return
    raise UsageError(
        "no settings file names the database, and units run without this shell's environment",
        "set [database] url in flow.toml; `flow up` is for a database that Flow starts itself",
    )


def _next_steps(scope: Scope) -> list[str]:
    steps = []
    if scope is Scope.SYSTEM and not (DATABASE / "url").exists():
        steps.append(
            f"write the database's URL: install -d -m 700 {DATABASE} && "
            f"(umask 077; cat > {DATABASE}/url)"
        )
    if scope is Scope.SYSTEM:
        steps.append(f'make the schema: FLOW_DATABASE_URL="$(cat {DATABASE}/url)" flow db migrate')
    else:
        steps.append("make the schema: flow db migrate")
        steps.append("let it run without a login: loginctl enable-linger")
    of_user = "" if scope is Scope.SYSTEM else "--user "
    restart = f"systemctl {of_user}restart {TARGET}"
    steps.append(f"start it, and again after an upgrade: {restart}")
    steps.append(f"see it: systemctl {of_user}status 'flow-*'")
    return steps
