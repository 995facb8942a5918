"""`BashOperator`: run a command or a script with bash."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from flow.authoring import interruption
from flow.authoring.operator import BaseOperator
from flow.authoring.xcom_arg import Reference
from flow.errors import InvalidDag
from flow.exceptions import CommandFailed, SkipException, TaskException
from flow.signal_name import signal_name

if TYPE_CHECKING:
    from flow.authoring.context import Context

_LONGEST_ARGUMENT = 100_000
"""Bytes of a command that go on the command line; Linux allows 131,071 in one argument."""
_OURS = "FLOW_"


class BashOperator(BaseOperator):
    """Run `bash_command`. Its output becomes the log, its last line the XCom.

    The command is a template, or the name of a template file (`.sh`, `.bash`). `env` replaces
    the environment (with `append_env`, is added to it); what Flow tells its tasks (`FLOW_…`) is
    always there. Without `cwd` the command runs in a temporary folder of its own. An exit code in
    `skip_on_exit_code` skips the task; any other than 0 fails it. `output_processor` turns the last
    line into the result.
    """

    template_fields: ClassVar[Sequence[str]] = ("bash_command", "env", "cwd")
    template_fields_renderers: ClassVar = {"bash_command": "bash", "env": "json"}
    template_ext: ClassVar[Sequence[str]] = (".sh", ".bash")
    ui_color = "#f0ede4"

    def __init__(
        self,
        *,
        bash_command: str | Reference,
        env: dict[str, str] | None = None,
        append_env: bool = False,
        output_encoding: str = "utf-8",
        skip_on_exit_code: int | Collection[int] | None = 99,
        cwd: str | None = None,
        output_processor: Callable[[str], Any] = lambda result: result,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(bash_command, (str, Reference)):
            raise InvalidDag(f"{self.origin}: bash_command must be text, not {bash_command!r}")
        self.bash_command: Any = bash_command
        self.env = env
        self.append_env = append_env
        self.output_encoding = output_encoding
        self.skip_on_exit_code = _codes(skip_on_exit_code)
        self.cwd = cwd
        self.output_processor = output_processor
        self._process: subprocess.Popen[bytes] | None = None
        self._told = False

    def execute(self, context: Context) -> Any:
        """Run the command and return its last line of output, after `output_processor`."""
        with self._folder() as folder, _script(self.bash_command) as arguments:
            last_line = self._run(arguments, folder)
        return self.output_processor(last_line)

    def _run(self, arguments: list[str], folder: str) -> str:
        # A process group of its own: on_kill reaches everything that the command has started, and
        # not the process of the task itself.
        self._told = False
        environment = self.environment()
        with interruption.held_back():  # on_kill could not end what runs and is not known yet
            process = self._process = subprocess.Popen(
                [shutil.which("bash") or "bash", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment,
                process_group=0,
            )
        assert process.stdout is not None
        try:
            last_line = self._copy(process.stdout)
            self._judge(process.wait())
        except BaseException:
            self.on_kill()
            raise
        finally:
            process.stdout.close()
        return last_line

    def _copy(self, lines: IO[bytes]) -> str:
        """Write the command's output to that of the task as it comes; its last line."""
        last_line = ""
        for raw in lines:
            line = raw.decode(self.output_encoding, errors="backslashreplace")
            sys.stdout.write(line)
            sys.stdout.flush()
            last_line = line.rstrip()
        return last_line

    def _judge(self, code: int) -> None:
        if code in self.skip_on_exit_code:
            skip = SkipException(f"exit code {code}")
            skip.exit_code = code
            raise skip
        if code < 0:
            raise TaskException(f"bash was ended by signal {signal_name(-code) or -code}")
        if code != 0:
            raise CommandFailed(code)

    def environment(self) -> dict[str, str]:
        """The environment of the command."""
        if self.env is None:
            return dict(os.environ)
        if self.append_env:
            return {**os.environ, **self.env}
        ours = {name: value for name, value in os.environ.items() if name.startswith(_OURS)}
        return {**self.env, **ours}

    @contextmanager
    def _folder(self) -> Iterator[str]:
        if self.cwd is None:
            with tempfile.TemporaryDirectory(prefix="flow-bash-") as folder:
                yield folder
        elif Path(self.cwd).is_dir():
            yield self.cwd
        else:
            raise TaskException(f"cwd {self.cwd!r} is not a folder on this host")

    def on_kill(self) -> None:
        """Send SIGTERM to the command and all that it has started in its group; wait for its end.

        What it still has to say goes to the log. The caller bounds the time.
        """
        process = self._process
        if process is None or self._told or process.poll() is not None:
            return
        self._told = True
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            return  # it ended in this moment
        assert process.stdout is not None
        # This runs in a signal handler, maybe in the middle of a read, a write or a wait of
        # `_run`: the buffers of both streams and the lock of `Popen.wait` may be taken.
        while data := os.read(process.stdout.fileno(), 65536):
            os.write(sys.stdout.fileno(), data)
        try:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            pass  # `_run`, in another thread, has taken its end


@contextmanager
def _script(command: str) -> Iterator[list[str]]:
    """Arguments with which bash runs `command`; a long one goes through a file."""
    if len(command.encode()) <= _LONGEST_ARGUMENT:
        yield ["-c", command]
        return
    with tempfile.NamedTemporaryFile("w", prefix="flow-bash-", suffix=".sh") as script:
        script.write(command)
        script.flush()
        yield [script.name]


def _codes(value: int | Collection[int] | None) -> frozenset[int]:
    if value is None:
        return frozenset()
    return frozenset([value] if isinstance(value, int) else value)
