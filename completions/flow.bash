# Completion for flow. Written by flow_cli.generate; changes here are lost.
_flow() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local path=flow position
    for ((position = 1; position < COMP_CWORD; position++)); do
        case "$path ${COMP_WORDS[position]}" in
            "flow --config" | "flow --deployment" | "flow init -o" | "flow init --output" | "flow config show -o" | "flow config show --output" | "flow config get -o" | "flow config get --output") ((position++)) ;;
            "flow init" | "flow config" | "flow config show" | "flow config get" | "flow completion") path="$path ${COMP_WORDS[position]}" ;;
        esac
    done
    COMPREPLY=()
    case "$path $previous" in
        "flow --config") mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null; return ;;
        "flow --deployment") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow init -o" | "flow init --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow config show -o" | "flow config show --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow config get -o" | "flow config get --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
    esac
    case "$path" in
        "flow") mapfile -t COMPREPLY < <(compgen -W "init config completion --config --deployment --debug --version -h --help" -- "$current") ;;
        "flow init") mapfile -t COMPREPLY < <(compgen -d -W "-o --output -h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow config") mapfile -t COMPREPLY < <(compgen -W "show get -h --help" -- "$current") ;;
        "flow config show") mapfile -t COMPREPLY < <(compgen -W "-o --output --reveal -h --help" -- "$current") ;;
        "flow config get") mapfile -t COMPREPLY < <(compgen -W "-o --output --reveal -h --help" -- "$current") ;;
        "flow completion") mapfile -t COMPREPLY < <(compgen -W "bash zsh fish -h --help" -- "$current") ;;
    esac
}
complete -F _flow flow
