"""Completion scripts for shells, written from the command tree.

The scripts hold every command, option and choice, so a shell answers from them without starting
Python. Each follows the words typed so far down the tree, stepping over the values of options, and
offers what is legal at that point. Names of DAGs, runs, tasks and pools are asked for with
`flow --complete`, which answers from a cache (`flow_cli.complete`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from flow_cli.known_names import Place, kind_of, places
from flow_cli.tree import FILE_METAVARS, FOLDER_METAVARS, Page, Word

NOTE = "Completion for flow. Written by flow_cli.generate; changes here are lost."

_GLOBALS: Final = ('*" --config"', '*" --deployment"')
_POSIX_GLOBAL: Final = 'globals+=("${words[position]}" "${words[position + 1]}"); ((position++))'
# A colon ends a word for bash, and an equals sign, but not for Flow. What bash replaces begins
# behind the last of them, so that is what is offered.
_BASH_ASKS: Final = (
    "_flow_names() {",
    "    local name",
    "    [[ $current == -* ]] && return",
    "    while read -r name; do",
    '        COMPREPLY+=("${name#"${current%"${current##*[:=]}"}"}")',
    '    done < <("${COMP_WORDS[0]}" --complete "${globals[@]}" "$1" "$current" '
    '"${arguments[@]:0:1}" 2>/dev/null)',
    "}",
)
_BASH_WORDS: Final = (
    "    local path=flow part glued=",
    "    local -i position",
    "    local -a words=(flow) arguments=() globals=()",
    '    for part in "${COMP_WORDS[@]:1:COMP_CWORD}"; do',
    "        if [[ $glued || $part == [:=]* ]]; then",
    "            words[-1]+=$part",
    "        else",
    '            words+=("$part")',
    "        fi",
    "        [[ $part == *[:=] ]] && glued=1 || glued=",
    "    done",
    '    local current="${words[-1]}" previous="${words[-2]-}"',
)
_ZSH_ASKS: Final = (
    "_flow_names() {",
    "    [[ ${words[CURRENT]} == -* ]] && return",
    "    local -a names",
    '    names=(${(f)"$("${words[1]}" --complete $chosen "$1" "${(Q)words[CURRENT]}" '
    '"${(@)arguments[1,1]}" 2>/dev/null)"})',
    "    (( $#names )) && compadd -- $names",
    "}",
)


class Shell(StrEnum):
    """The shells that `flow` knows how to complete in."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"

    def script(self, pages: Sequence[Page]) -> str:
        """The completion script for this shell."""
        writers = {Shell.BASH: bash_script, Shell.ZSH: zsh_script, Shell.FISH: fish_script}
        return writers[self](pages)


def bash_script(pages: Sequence[Page]) -> str:
    """The script for bash; works without the bash-completion package."""
    lines = [
        f"# {NOTE}",
        *_BASH_ASKS,
        "_flow() {",
        *_BASH_WORDS,
        "    for ((position = 1; position < ${#words[@]} - 1; position++)); do",
        '        case "$path ${words[position]}" in',
        *_posix_case(_GLOBALS, _POSIX_GLOBAL, indent=12),
        *_posix_case(_quoted(_value_options(pages)), "((position++))", indent=12),
        *_posix_case(_quoted(_paths_below(pages)), 'path="$path ${words[position]}"', indent=12),
        '            *" -"*) ;;',
        '            *) arguments+=("${words[position]}") ;;',
        "        esac",
        "    done",
        "    COMPREPLY=()",
        '    case "$path $previous" in',
    ]
    for page in pages:
        for option in page.options:
            if option.takes_value:
                names = _quoted([f"{page.path} {name}" for name in option.names])
                lines += _posix_case(names, f"{_bash_value(option)}; return", indent=8)
    lines += ["    esac", '    case "$path" in']
    for page in pages:
        lines += _posix_case([f'"{page.path}"'], _bash_words(page), indent=8)
    lines += ["    esac", *_names_of_arguments(pages), "}", "complete -F _flow flow", ""]
    return "\n".join(lines)


def zsh_script(pages: Sequence[Page]) -> str:
    """The script for zsh, to be found as `_flow` on its `fpath`."""
    lines = [
        "#compdef flow",
        f"# {NOTE}",
        *_ZSH_ASKS,
        "_flow() {",
        "    local route=flow",
        "    local -i position",
        "    local -a offers arguments chosen",
        "    for ((position = 2; position < CURRENT; position++)); do",
        '        case "$route ${words[position]}" in',
        *_posix_case(_GLOBALS, _POSIX_GLOBAL.replace("globals", "chosen"), indent=12),
        *_posix_case(_quoted(_value_options(pages)), "((position++))", indent=12),
        *_posix_case(_quoted(_paths_below(pages)), 'route="$route ${words[position]}"', indent=12),
        '            *" -"*) ;;',
        '            *) arguments+=("${(Q)words[position]}") ;;',
        "        esac",
        "    done",
        '    case "$route ${words[CURRENT-1]}" in',
    ]
    for page in pages:
        for option in page.options:
            if option.takes_value:
                names = _quoted([f"{page.path} {name}" for name in option.names])
                lines += _posix_case(names, f"{_zsh_value(option)}; return", indent=8)
    lines += ["    esac", '    case "$route" in']
    for page in pages:
        lines += _posix_case([f'"{page.path}"'], _zsh_words(page), indent=8)
    lines += ["    esac", *_names_of_arguments(pages, "route"), "}"]
    lines += ["if [[ $zsh_eval_context[-1] == loadautofunc ]]; then"]
    lines += ['    _flow "$@"', "else", "    compdef _flow flow", "fi", ""]
    return "\n".join(lines)


def fish_script(pages: Sequence[Page]) -> str:
    """The script for fish."""
    lines = [
        f"# {NOTE}",
        "function __flow_walk",
        "    set -g __flow_route flow",
        "    set -g __flow_arguments",
        "    set -g __flow_chosen",
        "    set -l words (commandline -opc)[2..]",
        "    set -l skip 0",
        "    for position in (seq (count $words))",
        "        set -l word $words[$position]",
        "        if test $skip = 1",
        "            set skip 0",
        "            continue",
        "        end",
        '        switch "$__flow_route $word"',
        "            case '* --config' '* --deployment'",
        "                set -a __flow_chosen $word $words[(math $position + 1)]",
        "                set skip 1",
        f"            case {' '.join(_fish_quoted(_value_options(pages)))}",
        "                set skip 1",
        f"            case {' '.join(_fish_quoted(_paths_below(pages)))}",
        '                set -g __flow_route "$__flow_route $word"',
        "            case '* -*'",
        "            case '*'",
        "                set -a __flow_arguments $word",
        "        end",
        "    end",
        "end",
        "function __flow_at",
        "    __flow_walk",
        '    test "$__flow_route" = "$argv[1]"; or return',
        "    switch (count $argv)",
        "        case 2",
        "            test (count $__flow_arguments) = $argv[2]",
        "        case 3",
        "            test (count $__flow_arguments) -ge $argv[2]",
        "    end",
        "end",
        "function __flow_names",
        "    __flow_walk",
        "    set -l program (commandline -opc)[1]",
        "    $program --complete $__flow_chosen $argv[1] (commandline -ct) "
        "$__flow_arguments[1] 2>/dev/null",
        "end",
        "complete -c flow -f",
    ]
    for page in pages:
        condition = f"-n \"__flow_at '{page.path}'\""
        for name, summary in page.commands:
            lines.append(f"complete -c flow {condition} -a {name} -d {_single(summary)}")
        offers = [_fish_option(option) for option in page.options]
        offers += [_fish_value(argument) for argument in page.arguments]
        lines += [f"complete -c flow {condition} {offer}" for offer in offers if offer]
        lines += [_fish_names(page, place) for place in places(page)]
    return "\n".join([*lines, ""])


def _value_options(pages: Sequence[Page]) -> list[str]:
    return [
        f"{page.path} {name}"
        for page in pages
        for option in page.options
        if option.takes_value
        for name in option.names
    ]


def _paths_below(pages: Sequence[Page]) -> list[str]:
    return [page.path for page in pages[1:]]


def _posix_case(patterns: Sequence[str], action: str, indent: int) -> list[str]:
    space = " " * indent
    return [f"{space}{' | '.join(patterns)}) {action} ;;"] if patterns else []


def _quoted(words: Sequence[str]) -> list[str]:
    return [f'"{word}"' for word in words]


def _single(text: str) -> str:
    """In single quotes, closed around each one inside: zsh and fish both read it so."""
    return "'" + text.replace("'", "'\\''") + "'"


def _names_of_arguments(pages: Sequence[Page], route: str = "path") -> list[str]:
    """For bash and zsh: ask for the names that may stand where the line ends."""
    lines = [f'    case "${route} ${{#arguments[@]}}" in']
    for page in pages:
        for place in places(page):
            where = f'"{page.path} "*' if place.onward else f'"{page.path} {place.before}"'
            lines += _posix_case([where], f"_flow_names {','.join(place.kinds)}", indent=8)
    return [*lines, "    esac"]


def _bash_value(word: Word) -> str:
    if kind := kind_of(word):
        return f"_flow_names {kind}"
    if word.metavar in FILE_METAVARS:
        return _bash_offer("-f")
    if word.metavar in FOLDER_METAVARS:
        return _bash_offer("-d")
    return _bash_offer(f'-W "{" ".join(word.choices)}"')


def _bash_words(page: Page) -> str:
    words = [name for name, _ in page.commands]
    words += [choice for argument in page.arguments for choice in argument.choices]
    words += [name for option in page.options for name in option.names]
    metavars = {argument.metavar for argument in page.arguments}
    also = "-f " if metavars & FILE_METAVARS else "-d " if metavars & FOLDER_METAVARS else ""
    return _bash_offer(f'{also}-W "{" ".join(words)}"')


def _bash_offer(source: str) -> str:
    """Offers one a line, so that names of files may have spaces; bash then quotes them."""
    offer = f'mapfile -t COMPREPLY < <(compgen {source} -- "$current")'
    is_path = source.startswith(("-f", "-d"))
    return f"{offer}; compopt -o filenames 2>/dev/null" if is_path else offer


def _zsh_value(word: Word) -> str:
    if kind := kind_of(word):
        return f"_flow_names {kind}"
    if word.metavar in FILE_METAVARS:
        return "_files"
    if word.metavar in FOLDER_METAVARS:
        return "_files -/"
    return f"compadd -- {' '.join(word.choices)}" if word.choices else "_message value"


def _zsh_words(page: Page) -> str:
    described = [*page.commands]
    described += [(choice, "") for argument in page.arguments for choice in argument.choices]
    described += [(name, option.help) for option in page.options for name in option.names]
    offers = " ".join(
        _single(f"{name}:{summary}" if summary else name) for name, summary in described
    )
    action = f"offers=({offers}); _describe flow offers"
    values = [_zsh_value(argument) for argument in page.arguments if not argument.choices]
    return "; ".join([action, *(value for value in values if value.startswith("_files"))])


def _fish_quoted(words: Sequence[str]) -> list[str]:
    return [_single(word) for word in words] or ["''"]


def _fish_option(option: Word) -> str:
    names = [
        f"-l {name.removeprefix('--')}" if name.startswith("--") else f"-s {name.removeprefix('-')}"
        for name in option.names
    ]
    if option.takes_value:
        # -x keeps fish from offering files beside the values.
        names += ["-r" if option.metavar in FILE_METAVARS else "-x", _fish_value(option)]
    return " ".join([*(name for name in names if name), f"-d {_single(option.help)}"])


def _fish_names(page: Page, place: Place) -> str:
    where = f"'{page.path}' {place.before}{' onward' if place.onward else ''}"
    return f"complete -c flow -n \"__flow_at {where}\" -a '(__flow_names {','.join(place.kinds)})'"


def _fish_value(word: Word) -> str:
    if word.is_option and (kind := kind_of(word)):
        return f"-a '(__flow_names {kind})'"
    if word.metavar in FILE_METAVARS:
        return "-F"
    if word.metavar in FOLDER_METAVARS:
        return "-a '(__fish_complete_directories)'"
    return f"-a {_single(' '.join(word.choices))}" if word.choices else ""
