"""Write the files that are generated and committed: manual pages and completion scripts.

python -m flow_cli.generate           write them, below the current folder
python -m flow_cli.generate --check   write nothing; exit 1 and name the stale ones
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from flow.settings import TABLE
from flow_cli import exits
from flow_cli.airflow_sheet import with_airflow
from flow_cli.application import root
from flow_cli.key_sheet import with_keys
from flow_cli.manual import command_page, settings_page
from flow_cli.roff import page_from_markdown
from flow_cli.shells import Shell
from flow_cli.tree import pages


def generated(folder: Path) -> Mapping[Path, str]:
    """Every generated file below the repository's folder, and what should stand in it."""
    tree = pages(root())
    files = {folder / "completions" / f"flow.{shell}": shell.script(tree) for shell in Shell}
    files[folder / "man" / "flow.1"] = command_page(tree)
    files[folder / "man" / "flow.toml.5"] = settings_page(TABLE.values())
    for source in sorted((folder / "man").glob("*.[1-9].md")):
        page = source.with_suffix("")
        name, _, number = page.name.rpartition(".")
        text = with_airflow(with_keys(source.read_text(encoding="utf-8")))
        files[page] = page_from_markdown(text, name, number)
    return files


def stale(files: Mapping[Path, str]) -> list[Path]:
    """The files that are missing or say something else."""
    return [
        path
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    """Write or check the generated files below the current folder; return the exit code."""
    files = generated(Path.cwd())
    old = stale(files)
    if "--check" in arguments:
        sys.stderr.writelines(f"{path} is stale; run: just generate\n" for path in old)
        return exits.FAILED if old else exits.DONE
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
    sys.stderr.writelines(f"wrote {path}\n" for path in old)
    return exits.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
