"""Reference pages of the manual: `flow.1` from the command tree, `flow.toml.5` from settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from flow.settings import Setting
from flow.wording.cells import written
from flow_cli import exits, roff
from flow_cli.tree import Page, Word


def command_page(pages: Sequence[Page]) -> str:
    """The page of the whole command, a section for each command below it."""
    top, *below = pages
    lines = [
        roff.title("flow", "1"),
        roff.section("Name"),
        f"flow \\- {roff.inline(_lower_first(top.summary.rstrip('.')))}",
        roff.section("Synopsis"),
        f"{roff.bold(top.path)} {roff.escaped(top.usage)}",
        roff.section("Global options"),
        *_words(top.options),
        roff.section("Commands"),
    ]
    for page in below:
        lines += _command(page)
    lines.append(roff.section("Exit status"))
    for code, meaning in exits.MEANINGS.items():
        lines += roff.tagged(roff.bold(str(code)), meaning)
    lines += [roff.section("Examples"), *_examples(top)]
    return "\n".join([*lines, ""])


def settings_page(settings: Iterable[Setting]) -> str:
    """The page of the settings file."""
    lines = [
        roff.title("flow.toml", "5"),
        roff.section("Name"),
        "flow.toml \\- settings of Flow",
        roff.section("Description"),
        roff.inline(
            "The settings file is the one that `--config` or FLOW_CONFIG names, else the nearest"
            " `flow.toml` in the current folder or its parents, else the user's"
            " `~/.config/flow/flow.toml`, else `/etc/flow/flow.toml`."
        ),
        ".PP",
        roff.inline(
            "An environment variable overrides the file. A table `[deployment.NAME]` holds the same"
            " keys for one deployment, chosen by FLOW_DEPLOYMENT or `--deployment`; one that is"
            " chosen by `--deployment` overrides the environment too. A secret may also come as a"
            " credential of systemd, `flow_database_url`, which goes before the environment."
        ),
        ".PP",
        roff.inline(
            "A relative path starts from the folder of the file, a default one from `home`. A"
            " duration is a number of seconds or a text such as `90s`, `5m`, `2h`. In an"
            " environment variable the parts of a list are separated by commas."
        ),
        roff.section("Settings"),
    ]
    for setting in settings:
        lines += [
            *roff.tagged(roff.bold(setting.key), setting.meaning),
            ".br",
            roff.inline(f"{_default(setting)}Environment: {setting.variable}."),
        ]
    return "\n".join([*lines, ""])


def _command(page: Page) -> Iterator[str]:
    yield f".SS {roff.quoted(page.path)}"
    yield f"{roff.bold(page.path)} {roff.escaped(page.usage)}"
    for paragraph in page.description.split("\n\n"):
        yield ".PP"
        yield roff.inline(" ".join(paragraph.split()))
    yield from _words((*page.arguments, *page.options))
    yield from _examples(page)


def _words(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        names = ", ".join(roff.bold(name) for name in word.names)
        value = f" {roff.italic(word.metavar)}" if word.is_option and word.takes_value else ""
        yield from roff.tagged(names + value, word.help)


def _examples(page: Page) -> Iterator[str]:
    if page.examples:
        yield from roff.code_block(page.examples)


def _default(setting: Setting) -> str:
    if setting.default is None:
        return ""
    return f"Default: `{written(setting.default)}`. "


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
