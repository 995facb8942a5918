# Completion for flow. Written by flow_cli.generate; changes here are lost.
_flow() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local path=flow position
    for ((position = 1; position < COMP_CWORD; position++)); do
        case "$path ${COMP_WORDS[position]}" in
            "flow --config" | "flow --deployment" | "flow up --dags" | "flow up --workers" | "flow up --schedulers" | "flow up --slots" | "flow down -o" | "flow down --output" | "flow down --timeout" | "flow init -o" | "flow init --output" | "flow parse --dags" | "flow parse --timeout" | "flow parse --processes" | "flow work --slots" | "flow work --queues" | "flow work --drain-timeout" | "flow dags list --tag" | "flow dags list --owner" | "flow dags list --limit" | "flow dags list -o" | "flow dags list --output" | "flow dags show -o" | "flow dags show --output" | "flow dags pause -o" | "flow dags pause --output" | "flow dags unpause -o" | "flow dags unpause --output" | "flow dags errors --limit" | "flow dags errors -o" | "flow dags errors --output" | "flow run --date" | "flow run --interval" | "flow run --run-id" | "flow run --conf" | "flow run -o" | "flow run --output" | "flow runs list --state" | "flow runs list --type" | "flow runs list --from" | "flow runs list --to" | "flow runs list --limit" | "flow runs list -o" | "flow runs list --output" | "flow runs show -o" | "flow runs show --output" | "flow tasks list -o" | "flow tasks list --output" | "flow tasks tries -o" | "flow tasks tries --output" | "flow tasks mark -o" | "flow tasks mark --output" | "flow grid -n" | "flow grid --runs" | "flow grid -o" | "flow grid --output" | "flow xcom list --try" | "flow xcom list -o" | "flow xcom list --output" | "flow xcom get --key" | "flow xcom get --try" | "flow xcom get -o" | "flow xcom get --output" | "flow pools list --limit" | "flow pools list -o" | "flow pools list --output" | "flow pools set --description" | "flow pools set -o" | "flow pools set --output" | "flow pools delete -o" | "flow pools delete --output" | "flow vars list --limit" | "flow vars list -o" | "flow vars list --output" | "flow vars get -o" | "flow vars get --output" | "flow vars set --from-file" | "flow vars set --description" | "flow vars set -o" | "flow vars set --output" | "flow vars delete -o" | "flow vars delete --output" | "flow vars import --existing" | "flow vars import -o" | "flow vars import --output" | "flow conns list --limit" | "flow conns list -o" | "flow conns list --output" | "flow conns get -o" | "flow conns get --output" | "flow conns add --uri" | "flow conns add --json" | "flow conns add --type" | "flow conns add --host" | "flow conns add --port" | "flow conns add --login" | "flow conns add --password" | "flow conns add --schema" | "flow conns add --extra" | "flow conns add --description" | "flow conns add -o" | "flow conns add --output" | "flow conns test -o" | "flow conns test --output" | "flow conns delete -o" | "flow conns delete --output" | "flow conns import --existing" | "flow conns import -o" | "flow conns import --output" | "flow config show -o" | "flow config show --output" | "flow config get -o" | "flow config get --output" | "flow status -o" | "flow status --output" | "flow db migrate -o" | "flow db migrate --output" | "flow db status -o" | "flow db status --output" | "flow db check --days" | "flow db check -o" | "flow db check --output" | "flow db shell -c" | "flow db shell --command") ((position++)) ;;
            "flow up" | "flow down" | "flow init" | "flow parse" | "flow schedule" | "flow work" | "flow dags" | "flow dags list" | "flow dags show" | "flow dags pause" | "flow dags unpause" | "flow dags errors" | "flow run" | "flow runs" | "flow runs list" | "flow runs show" | "flow tasks" | "flow tasks list" | "flow tasks tries" | "flow tasks mark" | "flow grid" | "flow xcom" | "flow xcom list" | "flow xcom get" | "flow pools" | "flow pools list" | "flow pools set" | "flow pools delete" | "flow vars" | "flow vars list" | "flow vars get" | "flow vars set" | "flow vars delete" | "flow vars import" | "flow vars export" | "flow conns" | "flow conns list" | "flow conns get" | "flow conns add" | "flow conns test" | "flow conns delete" | "flow conns import" | "flow conns export" | "flow config" | "flow config show" | "flow config get" | "flow status" | "flow db" | "flow db migrate" | "flow db status" | "flow db check" | "flow db shell" | "flow completion") path="$path ${COMP_WORDS[position]}" ;;
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
        "flow dags list --tag") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow dags list --owner") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow dags list --limit") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow dags list -o" | "flow dags list --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow dags show -o" | "flow dags show --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow dags pause -o" | "flow dags pause --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow dags unpause -o" | "flow dags unpause --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow dags errors --limit") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow dags errors -o" | "flow dags errors --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow run --date") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow run --interval") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow run --run-id") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow run --conf") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow run -o" | "flow run --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow runs list --state") mapfile -t COMPREPLY < <(compgen -W "queued running success failed" -- "$current"); return ;;
        "flow runs list --type") mapfile -t COMPREPLY < <(compgen -W "scheduled manual backfill asset" -- "$current"); return ;;
        "flow runs list --from") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow runs list --to") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow runs list --limit") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow runs list -o" | "flow runs list --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow runs show -o" | "flow runs show --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow tasks list -o" | "flow tasks list --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow tasks tries -o" | "flow tasks tries --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow tasks mark -o" | "flow tasks mark --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow grid -n" | "flow grid --runs") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow grid -o" | "flow grid --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow xcom list --try") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow xcom list -o" | "flow xcom list --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow xcom get --key") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow xcom get --try") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow xcom get -o" | "flow xcom get --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow pools list --limit") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow pools list -o" | "flow pools list --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow pools set --description") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow pools set -o" | "flow pools set --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow pools delete -o" | "flow pools delete --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow vars list --limit") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow vars list -o" | "flow vars list --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow vars get -o" | "flow vars get --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow vars set --from-file") mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null; return ;;
        "flow vars set --description") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow vars set -o" | "flow vars set --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow vars delete -o" | "flow vars delete --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow vars import --existing") mapfile -t COMPREPLY < <(compgen -W "fail skip overwrite" -- "$current"); return ;;
        "flow vars import -o" | "flow vars import --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow conns list --limit") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns list -o" | "flow conns list --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow conns get -o" | "flow conns get --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow conns add --uri") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --json") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --type") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --host") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --port") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --login") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --password") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --schema") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --extra") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add --description") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow conns add -o" | "flow conns add --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow conns test -o" | "flow conns test --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow conns delete -o" | "flow conns delete --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow conns import --existing") mapfile -t COMPREPLY < <(compgen -W "fail skip overwrite" -- "$current"); return ;;
        "flow conns import -o" | "flow conns import --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow config show -o" | "flow config show --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow config get -o" | "flow config get --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow status -o" | "flow status --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow db migrate -o" | "flow db migrate --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow db status -o" | "flow db status --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow db check --days") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
        "flow db check -o" | "flow db check --output") mapfile -t COMPREPLY < <(compgen -W "text json jsonl" -- "$current"); return ;;
        "flow db shell -c" | "flow db shell --command") mapfile -t COMPREPLY < <(compgen -W "" -- "$current"); return ;;
    esac
    case "$path" in
        "flow") mapfile -t COMPREPLY < <(compgen -W "up down init parse schedule work dags run runs tasks grid xcom pools vars conns config status db completion --config --deployment --debug --version -h --help" -- "$current") ;;
        "flow up") mapfile -t COMPREPLY < <(compgen -W "--dags --workers --schedulers --slots --detach -h --help" -- "$current") ;;
        "flow down") mapfile -t COMPREPLY < <(compgen -W "-o --output --now --timeout -h --help" -- "$current") ;;
        "flow init") mapfile -t COMPREPLY < <(compgen -d -W "-o --output -h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow parse") mapfile -t COMPREPLY < <(compgen -W "--once --dags --timeout --processes -h --help" -- "$current") ;;
        "flow schedule") mapfile -t COMPREPLY < <(compgen -W "--once -h --help" -- "$current") ;;
        "flow work") mapfile -t COMPREPLY < <(compgen -W "--slots --queues --once --drain-timeout -h --help" -- "$current") ;;
        "flow dags") mapfile -t COMPREPLY < <(compgen -W "list show pause unpause errors -h --help" -- "$current") ;;
        "flow dags list") mapfile -t COMPREPLY < <(compgen -W "--tag --owner --paused --unpaused --failed --limit --all -o --output -h --help" -- "$current") ;;
        "flow dags show") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow dags pause") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow dags unpause") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow dags errors") mapfile -t COMPREPLY < <(compgen -f -W "--limit --all -o --output -h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow run") mapfile -t COMPREPLY < <(compgen -W "--date --interval --run-id --conf --wait -o --output -h --help" -- "$current") ;;
        "flow runs") mapfile -t COMPREPLY < <(compgen -W "list show -h --help" -- "$current") ;;
        "flow runs list") mapfile -t COMPREPLY < <(compgen -W "--state --type --from --to --limit --all -o --output -h --help" -- "$current") ;;
        "flow runs show") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow tasks") mapfile -t COMPREPLY < <(compgen -W "list tries mark -h --help" -- "$current") ;;
        "flow tasks list") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow tasks tries") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow tasks mark") mapfile -t COMPREPLY < <(compgen -W "success failed skipped -y --yes --dry-run -o --output -h --help" -- "$current") ;;
        "flow grid") mapfile -t COMPREPLY < <(compgen -W "-n --runs -o --output -h --help" -- "$current") ;;
        "flow xcom") mapfile -t COMPREPLY < <(compgen -W "list get -h --help" -- "$current") ;;
        "flow xcom list") mapfile -t COMPREPLY < <(compgen -W "--try -o --output -h --help" -- "$current") ;;
        "flow xcom get") mapfile -t COMPREPLY < <(compgen -W "--key --try -o --output -h --help" -- "$current") ;;
        "flow pools") mapfile -t COMPREPLY < <(compgen -W "list set delete -h --help" -- "$current") ;;
        "flow pools list") mapfile -t COMPREPLY < <(compgen -W "--limit --all -o --output -h --help" -- "$current") ;;
        "flow pools set") mapfile -t COMPREPLY < <(compgen -W "--include-deferred --exclude-deferred --description -o --output -h --help" -- "$current") ;;
        "flow pools delete") mapfile -t COMPREPLY < <(compgen -W "-y --yes --dry-run -o --output -h --help" -- "$current") ;;
        "flow vars") mapfile -t COMPREPLY < <(compgen -W "list get set delete import export -h --help" -- "$current") ;;
        "flow vars list") mapfile -t COMPREPLY < <(compgen -W "--limit --all -o --output -h --help" -- "$current") ;;
        "flow vars get") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow vars set") mapfile -t COMPREPLY < <(compgen -W "--from-file --description -o --output -h --help" -- "$current") ;;
        "flow vars delete") mapfile -t COMPREPLY < <(compgen -W "-y --yes --dry-run -o --output -h --help" -- "$current") ;;
        "flow vars import") mapfile -t COMPREPLY < <(compgen -f -W "--existing -o --output -h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow vars export") mapfile -t COMPREPLY < <(compgen -f -W "-h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow conns") mapfile -t COMPREPLY < <(compgen -W "list get add test delete import export -h --help" -- "$current") ;;
        "flow conns list") mapfile -t COMPREPLY < <(compgen -W "--limit --all -o --output -h --help" -- "$current") ;;
        "flow conns get") mapfile -t COMPREPLY < <(compgen -W "--reveal -o --output -h --help" -- "$current") ;;
        "flow conns add") mapfile -t COMPREPLY < <(compgen -W "--uri --json --type --host --port --login --password --schema --extra --description --replace -o --output -h --help" -- "$current") ;;
        "flow conns test") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow conns delete") mapfile -t COMPREPLY < <(compgen -W "-y --yes --dry-run -o --output -h --help" -- "$current") ;;
        "flow conns import") mapfile -t COMPREPLY < <(compgen -f -W "--existing -o --output -h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow conns export") mapfile -t COMPREPLY < <(compgen -f -W "-h --help" -- "$current"); compopt -o filenames 2>/dev/null ;;
        "flow config") mapfile -t COMPREPLY < <(compgen -W "show get -h --help" -- "$current") ;;
        "flow config show") mapfile -t COMPREPLY < <(compgen -W "-o --output --reveal -h --help" -- "$current") ;;
        "flow config get") mapfile -t COMPREPLY < <(compgen -W "-o --output --reveal -h --help" -- "$current") ;;
        "flow status") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow db") mapfile -t COMPREPLY < <(compgen -W "migrate status check shell -h --help" -- "$current") ;;
        "flow db migrate") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow db status") mapfile -t COMPREPLY < <(compgen -W "-o --output -h --help" -- "$current") ;;
        "flow db check") mapfile -t COMPREPLY < <(compgen -W "--days --all -o --output -h --help" -- "$current") ;;
        "flow db shell") mapfile -t COMPREPLY < <(compgen -W "-c --command -h --help" -- "$current") ;;
        "flow completion") mapfile -t COMPREPLY < <(compgen -W "bash zsh fish -h --help" -- "$current") ;;
    esac
}
complete -F _flow flow
