# Completion for flow. Written by flow_cli.generate; changes here are lost.
_flow() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local path=flow position
    for ((position = 1; position < COMP_CWORD; position++)); do
        case "$path ${COMP_WORDS[position]}" in
            "flow --config" | "flow --deployment" | "flow up --dags" | "flow up --workers" | "flow up --schedulers" | "flow up --slots" | "flow down -o" | "flow down --output" | "flow down --timeout" | "flow init -o" | "flow init --output" | "flow parse --dags" | "flow parse --timeout" | "flow parse --processes" | "flow work --slots" | "flow work --queues" | "flow work --drain-timeout" | "flow config show -o" | "flow config show --output" | "flow config get -o" | "flow config get --output") ((position++)) ;;
            "flow up" | "flow down" | "flow init" | "flow parse" | "flow schedule" | "flow work" | "flow config" | "flow config show" | "flow config get" | "flow completion") path="$path ${COMP_WORDS[position]}" ;;
        esac
    done
    COMPREPLY=()
    case "$path $previous" in
        "flow --config") mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null; return ;;
        "flow --deployment") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow up --dags") mapfile -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames 2>/dev/null; return ;;
        "flow up --workers") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow up --schedulers") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow up --slots") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow down -o" | "flow down --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow down --timeout") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow init -o" | "flow init --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow parse --dags") mapfile -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames 2>/dev/null; return ;;
        "flow parse --timeout") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow parse --processes") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow work --slots") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow work --queues") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow work --drain-timeout") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow config show -o" | "flow config show --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow config get -o" | "flow config get --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
    esac
    case "$path" in
        "flow") mapfile -t COMPREPLY < <(compgen -W "up down init parse schedule work config completion --config --deployment --debug --version -h --help" -- "$current") ;;
        "flow up") mapfile -t COMPREPLY < <(compgen -W "--dags --workers --schedulers --slots --detach -h --help" -- "$current") ;;
        "flow down") mapfile -t COMPREPLY < <(compgen -W "-o --output --now --timeout -h --help" -- "$current") ;;
        "flow init") mapfile -t COMPREPLY < <(compgen -d -W "-o --output -h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow parse") mapfile -t COMPREPLY < <(compgen -W "--once --dags --timeout --processes -h --help" -- "$current") ;;
        "flow schedule") mapfile -t COMPREPLY < <(compgen -W "--once -h --help" -- "$current") ;;
        "flow work") mapfile -t COMPREPLY < <(compgen -W "--slots --queues --once --drain-timeout -h --help" -- "$current") ;;
        "flow config") mapfile -t COMPREPLY < <(compgen -W "show get -h --help" -- "$current") ;;
        "flow config show") mapfile -t COMPREPLY < <(compgen -W "-o --output --reveal -h --help" -- "$current") ;;
        "flow config get") mapfile -t COMPREPLY < <(compgen -W "-o --output --reveal -h --help" -- "$current") ;;
        "flow completion") mapfile -t COMPREPLY < <(compgen -W "bash zsh fish -h --help" -- "$current") ;;
    esac
}
complete -F _flow flow
