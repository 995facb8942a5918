#compdef flow
# Completion for flow. Written by flow_cli.generate; changes here are lost.
_flow() {
    local route=flow
    local -i position
    local -a offers
    for ((position = 2; position < CURRENT; position++)); do
        case "$route ${words[position]}" in
            "flow --config" | "flow --deployment" | "flow demo -o" | "flow demo --output" | "flow up --dags" | "flow up --workers" | "flow up --schedulers" | "flow up --slots" | "flow down -o" | "flow down --output" | "flow down --timeout" | "flow init -o" | "flow init --output" | "flow parse --dags" | "flow parse --timeout" | "flow parse --processes" | "flow work --slots" | "flow work --queues" | "flow work --drain-timeout" | "flow dags list --tag" | "flow dags list --owner" | "flow dags list --limit" | "flow dags list -o" | "flow dags list --output" | "flow dags show -o" | "flow dags show --output" | "flow dags pause -o" | "flow dags pause --output" | "flow dags unpause -o" | "flow dags unpause --output" | "flow dags errors --limit" | "flow dags errors -o" | "flow dags errors --output" | "flow dags warnings --slow" | "flow dags warnings -o" | "flow dags warnings --output" | "flow dags versions --limit" | "flow dags versions -o" | "flow dags versions --output" | "flow run --date" | "flow run --interval" | "flow run --run-id" | "flow run --conf" | "flow run -o" | "flow run --output" | "flow runs list --state" | "flow runs list --type" | "flow runs list --from" | "flow runs list --to" | "flow runs list --limit" | "flow runs list -o" | "flow runs list --output" | "flow runs show -o" | "flow runs show --output" | "flow tasks list -o" | "flow tasks list --output" | "flow tasks tries -o" | "flow tasks tries --output" | "flow tasks render --date" | "flow tasks render -o" | "flow tasks render --output" | "flow tasks mark -o" | "flow tasks mark --output" | "flow logs --try" | "flow logs --tail" | "flow logs --grep" | "flow logs -o" | "flow logs --output" | "flow grid -n" | "flow grid --runs" | "flow grid -o" | "flow grid --output" | "flow xcom list --try" | "flow xcom list -o" | "flow xcom list --output" | "flow xcom get --key" | "flow xcom get --try" | "flow xcom get -o" | "flow xcom get --output" | "flow test --date" | "flow test -t" | "flow test --conf" | "flow test --var" | "flow test --conn" | "flow test -o" | "flow test --output" | "flow pools list --limit" | "flow pools list -o" | "flow pools list --output" | "flow pools set --description" | "flow pools set -o" | "flow pools set --output" | "flow pools delete -o" | "flow pools delete --output" | "flow vars list --limit" | "flow vars list -o" | "flow vars list --output" | "flow vars get -o" | "flow vars get --output" | "flow vars set --from-file" | "flow vars set --description" | "flow vars set -o" | "flow vars set --output" | "flow vars delete -o" | "flow vars delete --output" | "flow vars import --existing" | "flow vars import -o" | "flow vars import --output" | "flow conns list --limit" | "flow conns list -o" | "flow conns list --output" | "flow conns get -o" | "flow conns get --output" | "flow conns add --uri" | "flow conns add --json" | "flow conns add --type" | "flow conns add --host" | "flow conns add --port" | "flow conns add --login" | "flow conns add --password" | "flow conns add --schema" | "flow conns add --extra" | "flow conns add --description" | "flow conns add -o" | "flow conns add --output" | "flow conns test -o" | "flow conns test --output" | "flow conns delete -o" | "flow conns delete --output" | "flow conns import --existing" | "flow conns import -o" | "flow conns import --output" | "flow config show -o" | "flow config show --output" | "flow config get -o" | "flow config get --output" | "flow status -o" | "flow status --output" | "flow db migrate -o" | "flow db migrate --output" | "flow db status -o" | "flow db status --output" | "flow db check --days" | "flow db check -o" | "flow db check --output" | "flow db shell -c" | "flow db shell --command") ((position++)) ;;
            "flow demo" | "flow up" | "flow down" | "flow init" | "flow parse" | "flow schedule" | "flow work" | "flow dags" | "flow dags list" | "flow dags show" | "flow dags pause" | "flow dags unpause" | "flow dags errors" | "flow dags warnings" | "flow dags versions" | "flow run" | "flow runs" | "flow runs list" | "flow runs show" | "flow tasks" | "flow tasks list" | "flow tasks tries" | "flow tasks render" | "flow tasks mark" | "flow logs" | "flow grid" | "flow xcom" | "flow xcom list" | "flow xcom get" | "flow test" | "flow pools" | "flow pools list" | "flow pools set" | "flow pools delete" | "flow vars" | "flow vars list" | "flow vars get" | "flow vars set" | "flow vars delete" | "flow vars import" | "flow vars export" | "flow conns" | "flow conns list" | "flow conns get" | "flow conns add" | "flow conns test" | "flow conns delete" | "flow conns import" | "flow conns export" | "flow config" | "flow config show" | "flow config get" | "flow status" | "flow db" | "flow db migrate" | "flow db status" | "flow db check" | "flow db shell" | "flow completion") route="$route ${words[position]}" ;;
        esac
    done
    case "$route ${words[CURRENT-1]}" in
        "flow --config") _files; return ;;
        "flow --deployment") _message value; return ;;
        "flow demo -o" | "flow demo --output") compadd -- text json jsonl; return ;;
        "flow up --dags") _files -/; return ;;
        "flow up --workers") _message value; return ;;
        "flow up --schedulers") _message value; return ;;
        "flow up --slots") _message value; return ;;
        "flow down -o" | "flow down --output") compadd -- text json jsonl; return ;;
        "flow down --timeout") _message value; return ;;
        "flow init -o" | "flow init --output") compadd -- text json jsonl; return ;;
        "flow parse --dags") _files -/; return ;;
        "flow parse --timeout") _message value; return ;;
        "flow parse --processes") _message value; return ;;
        "flow work --slots") _message value; return ;;
        "flow work --queues") _message value; return ;;
        "flow work --drain-timeout") _message value; return ;;
        "flow dags list --tag") _message value; return ;;
        "flow dags list --owner") _message value; return ;;
        "flow dags list --limit") _message value; return ;;
        "flow dags list -o" | "flow dags list --output") compadd -- text json jsonl; return ;;
        "flow dags show -o" | "flow dags show --output") compadd -- text json jsonl; return ;;
        "flow dags pause -o" | "flow dags pause --output") compadd -- text json jsonl; return ;;
        "flow dags unpause -o" | "flow dags unpause --output") compadd -- text json jsonl; return ;;
        "flow dags errors --limit") _message value; return ;;
        "flow dags errors -o" | "flow dags errors --output") compadd -- text json jsonl; return ;;
        "flow dags warnings --slow") _message value; return ;;
        "flow dags warnings -o" | "flow dags warnings --output") compadd -- text json jsonl; return ;;
        "flow dags versions --limit") _message value; return ;;
        "flow dags versions -o" | "flow dags versions --output") compadd -- text json jsonl; return ;;
        "flow run --date") _message value; return ;;
        "flow run --interval") _message value; return ;;
        "flow run --run-id") _message value; return ;;
        "flow run --conf") _message value; return ;;
        "flow run -o" | "flow run --output") compadd -- text json jsonl; return ;;
        "flow runs list --state") compadd -- queued running success failed; return ;;
        "flow runs list --type") compadd -- scheduled manual backfill asset; return ;;
        "flow runs list --from") _message value; return ;;
        "flow runs list --to") _message value; return ;;
        "flow runs list --limit") _message value; return ;;
        "flow runs list -o" | "flow runs list --output") compadd -- text json jsonl; return ;;
        "flow runs show -o" | "flow runs show --output") compadd -- text json jsonl; return ;;
        "flow tasks list -o" | "flow tasks list --output") compadd -- text json jsonl; return ;;
        "flow tasks tries -o" | "flow tasks tries --output") compadd -- text json jsonl; return ;;
        "flow tasks render --date") _message value; return ;;
        "flow tasks render -o" | "flow tasks render --output") compadd -- text json jsonl; return ;;
        "flow tasks mark -o" | "flow tasks mark --output") compadd -- text json jsonl; return ;;
        "flow logs --try") _message value; return ;;
        "flow logs --tail") _message value; return ;;
        "flow logs --grep") _message value; return ;;
        "flow logs -o" | "flow logs --output") compadd -- text json jsonl; return ;;
        "flow grid -n" | "flow grid --runs") _message value; return ;;
        "flow grid -o" | "flow grid --output") compadd -- text json jsonl; return ;;
        "flow xcom list --try") _message value; return ;;
        "flow xcom list -o" | "flow xcom list --output") compadd -- text json jsonl; return ;;
        "flow xcom get --key") _message value; return ;;
        "flow xcom get --try") _message value; return ;;
        "flow xcom get -o" | "flow xcom get --output") compadd -- text json jsonl; return ;;
        "flow test --date") _message value; return ;;
        "flow test -t") _message value; return ;;
        "flow test --conf") _message value; return ;;
        "flow test --var") _message value; return ;;
        "flow test --conn") _message value; return ;;
        "flow test -o" | "flow test --output") compadd -- text json jsonl; return ;;
        "flow pools list --limit") _message value; return ;;
        "flow pools list -o" | "flow pools list --output") compadd -- text json jsonl; return ;;
        "flow pools set --description") _message value; return ;;
        "flow pools set -o" | "flow pools set --output") compadd -- text json jsonl; return ;;
        "flow pools delete -o" | "flow pools delete --output") compadd -- text json jsonl; return ;;
        "flow vars list --limit") _message value; return ;;
        "flow vars list -o" | "flow vars list --output") compadd -- text json jsonl; return ;;
        "flow vars get -o" | "flow vars get --output") compadd -- text json jsonl; return ;;
        "flow vars set --from-file") _files; return ;;
        "flow vars set --description") _message value; return ;;
        "flow vars set -o" | "flow vars set --output") compadd -- text json jsonl; return ;;
        "flow vars delete -o" | "flow vars delete --output") compadd -- text json jsonl; return ;;
        "flow vars import --existing") compadd -- fail skip overwrite; return ;;
        "flow vars import -o" | "flow vars import --output") compadd -- text json jsonl; return ;;
        "flow conns list --limit") _message value; return ;;
        "flow conns list -o" | "flow conns list --output") compadd -- text json jsonl; return ;;
        "flow conns get -o" | "flow conns get --output") compadd -- text json jsonl; return ;;
        "flow conns add --uri") _message value; return ;;
        "flow conns add --json") _message value; return ;;
        "flow conns add --type") _message value; return ;;
        "flow conns add --host") _message value; return ;;
        "flow conns add --port") _message value; return ;;
        "flow conns add --login") _message value; return ;;
        "flow conns add --password") _message value; return ;;
        "flow conns add --schema") _message value; return ;;
        "flow conns add --extra") _message value; return ;;
        "flow conns add --description") _message value; return ;;
        "flow conns add -o" | "flow conns add --output") compadd -- text json jsonl; return ;;
        "flow conns test -o" | "flow conns test --output") compadd -- text json jsonl; return ;;
        "flow conns delete -o" | "flow conns delete --output") compadd -- text json jsonl; return ;;
        "flow conns import --existing") compadd -- fail skip overwrite; return ;;
        "flow conns import -o" | "flow conns import --output") compadd -- text json jsonl; return ;;
        "flow config show -o" | "flow config show --output") compadd -- text json jsonl; return ;;
        "flow config get -o" | "flow config get --output") compadd -- text json jsonl; return ;;
        "flow status -o" | "flow status --output") compadd -- text json jsonl; return ;;
        "flow db migrate -o" | "flow db migrate --output") compadd -- text json jsonl; return ;;
        "flow db status -o" | "flow db status --output") compadd -- text json jsonl; return ;;
        "flow db check --days") _message value; return ;;
        "flow db check -o" | "flow db check --output") compadd -- text json jsonl; return ;;
        "flow db shell -c" | "flow db shell --command") _message value; return ;;
    esac
    case "$route" in
        "flow") offers=('demo:Run a shop'\''s nightly pipeline on a database of its own, and kill a worker.' 'up:Run everything on this machine: database, parser, schedulers, workers.' 'down:Stop what flow up started: parser, schedulers, workers, and the embedded database.' 'init:Make a project folder: flow.toml, dags/ with an example, tests/.' 'parse:Import DAG files, each in a process of its own, and store the DAGs they define.' 'schedule:Create due runs, decide what may go, find lost workers.' 'work:Claim queued tasks and run each try in a process of its own.' 'dags:List, show, pause and unpause DAGs, and see what is wrong with their files.' 'run:Start a run of a DAG, and print its id.' 'runs:List and show runs.' 'tasks:List the tasks of a run and their tries, and mark how they ended.' 'logs:Print the logs of tasks, by default of the last try.' 'grid:Show the tasks of a DAG over its newest runs, the newest on the right.' 'xcom:List and print XComs, the values that tasks pass on.' 'test:Run a DAG of a file here and now, without any database.' 'pools:List, set and delete pools, the limits that tasks of all DAGs share.' 'vars:Keep variables, the texts that tasks share. They are encrypted in the database.' 'conns:Keep connections to other systems. They are encrypted in the database.' 'config:Show settings and where each value comes from.' 'status:Show roles, queue, wake-ups, pools and database; exit 1 when something is wrong.' 'db:Migrate, inspect and check the database.' 'completion:Print the completion script of a shell.' '--config:Settings file, instead of the nearest flow.toml. Also: FLOW_CONFIG.' '--deployment:Table [deployment.NAME] of the settings file to use. Also: FLOW_DEPLOYMENT.' '--debug:Show the traceback of an error.' '--version:Print the version and exit.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow demo") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '--keep:Leave the folder, to look around in it afterwards.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow up") offers=('--dags:Folder of DAG files.' '--workers:Workers.' '--schedulers:Schedulers.' '--slots:Tries at once per worker.' '--detach:Return once everything runs; logs go to a file.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow down") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '--now:End running tries instead of waiting for them.' '--timeout:Give up waiting after S seconds.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow init") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files -/ ;;
        "flow parse") offers=('--once:Look at every file once, then end.' '--dags:Folder of DAG files.' '--timeout:Seconds an import may take.' '--processes:Files imported at once; as many slow ones may go on beside them.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow schedule") offers=('--once:Work until nothing is due or ready, then end.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow work") offers=('--slots:Tries at once; 0 claims nothing.' '--queues:Queues to serve.' '--once:End when nothing is queued and nothing runs.' '--drain-timeout:Seconds to wait when draining.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow dags") offers=('list:List the DAGs.' 'show:Show one DAG: its schedule in words, its tasks, next runs, versions and warnings.' 'pause:Let no new run of DAGs be created or started. Runs that are running go on.' 'unpause:Let DAGs go on, and say which runs follow from it.' 'errors:List the DAG files that cannot be imported, or show one with its traceback.' 'warnings:List what importing DAG files warned of, and slow imports with the module to blame.' 'versions:List the versions of a DAG, newest first.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow dags list") offers=('--tag:With this tag; given twice, with either.' '--owner:Of this owner.' '--paused:Only paused, or only unpaused.' '--unpaused:Only paused, or only unpaused.' '--failed:Only those whose latest run failed.' '--limit:Print at most N rows.' '--all:Print every row.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow dags show") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow dags pause") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow dags unpause") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow dags errors") offers=('--limit:Print at most N rows.' '--all:Print every row.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files ;;
        "flow dags warnings") offers=('--slow:Seconds from which on an import is slow.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files ;;
        "flow dags versions") offers=('--limit:Print at most N rows.' '--all:Print every row.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow run") offers=('--date:Make the run of the interval that starts then.' '--interval:Make a run for this interval.' '--run-id:Id of the run, to be chosen.' '--conf:JSON object that tasks can read.' '--wait:Wait for its end; exit 1 when it failed.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow runs") offers=('list:List runs, newest first. Both ends of --from and --to are included, a day as a whole.' 'show:Show one run, and how many of its tasks are in which state.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow runs list") offers=('--state:In this state.' '--type:Made by this.' '--from:Whose interval starts then or later.' '--to:Whose interval starts then or earlier.' '--limit:Print at most N rows.' '--all:Print every row.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow runs show") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow tasks") offers=('list:List every task of a run, upstream first, also those that have not been looked at yet.' 'tries:List the tries of a task.' 'render:Show the template fields of a task as its try renders them, without running it.' 'mark:Say how tasks ended, whatever they are doing.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow tasks list") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow tasks tries") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow tasks render") offers=('--date:Start of an interval, whether it has a run or not.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow tasks mark") offers=('success' 'failed' 'skipped' '-y:Do it without asking.' '--yes:Do it without asking.' '--dry-run:Only print what would be touched.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow logs") offers=('--try:Number of the try; by default the last one.' '-f:Print what is added, until the tasks have ended.' '--follow:Print what is added, until the tasks have ended.' '--tail:Begin with the last N lines.' '--grep:Only lines in which this is found.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow grid") offers=('-n:How many of the newest runs.' '--runs:How many of the newest runs.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow xcom") offers=('list:List the XComs of a run, or of one task: those of the last try.' 'get:Print the value of an XCom: text as it is, everything else as JSON.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow xcom list") offers=('--try:Number of the try; by default the last one.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow xcom get") offers=('--key:Key of the XCom.' '--try:Number of the try; by default the last one.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow test") offers=('--date:Start of the interval that the run is for; by default the latest complete one.' '-t:Only these tasks: load, +load, load+, '\''extract_*'\''.' '--conf:JSON object that tasks can read.' '--var:A variable.' '--conn:A connection, as a URI or as JSON.' '--no-wait:Try again at once, without the retry delay.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow pools") offers=('list:List pools and what occupies them, in slots. A pool of -1 slots has no limit.' 'set:Make a pool, or change it. A pool that shrinks below its use empties by itself.' 'delete:Delete a pool that no unfinished task is in. Tasks that still name it have no limit then.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow pools list") offers=('--limit:Print at most N rows.' '--all:Print every row.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow pools set") offers=('--include-deferred:Whether deferred tasks keep their slots.' '--exclude-deferred:Whether deferred tasks keep their slots.' '--description:What the pool is for.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow pools delete") offers=('-y:Do it without asking.' '--yes:Do it without asking.' '--dry-run:Only print what would be touched.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow vars") offers=('list:List the variables in the database, without their values.' 'get:Print the value of a variable.' 'set:Set a variable. Without a description it keeps the one it has.' 'delete:Delete a variable.' 'import:Set variables from a JSON object, all or none.' 'export:Write all variables of the database as JSON, values and all.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow vars list") offers=('--limit:Print at most N rows.' '--all:Print every row.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow vars get") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow vars set") offers=('--from-file:Take the text from a file; - is stdin.' '--description:What it is for.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow vars delete") offers=('-y:Do it without asking.' '--yes:Do it without asking.' '--dry-run:Only print what would be touched.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow vars import") offers=('--existing:What to do with those that exist; by default nothing is imported.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files ;;
        "flow vars export") offers=('-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files ;;
        "flow conns") offers=('list:List the connections in the database, without what is secret.' 'get:Show a connection.' 'add:Store a connection, given as a URI, as JSON, or by its fields.' 'test:Try a connection from this machine; exit 1 when nobody answers.' 'delete:Delete a connection.' 'import:Store connections from a JSON object, all or none.' 'export:Write all connections of the database as JSON, passwords and all.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow conns list") offers=('--limit:Print at most N rows.' '--all:Print every row.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow conns get") offers=('--reveal:Print passwords and other texts instead of ***.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow conns add") offers=('--uri:All of it, as a URI; @- is stdin.' '--json:All of it, as a JSON object.' '--type:What it connects to.' '--host:Its host.' '--port:Its port.' '--login:User name.' '--password:Others may see a TEXT in ps.' '--schema:Schema or database.' '--extra:JSON object of the rest.' '--description:What it is for.' '--replace:Overwrite a connection of this id.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow conns test") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow conns delete") offers=('-y:Do it without asking.' '--yes:Do it without asking.' '--dry-run:Only print what would be touched.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow conns import") offers=('--existing:What to do with those that exist; by default nothing is imported.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files ;;
        "flow conns export") offers=('-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files ;;
        "flow config") offers=('show:Show every setting, its value and where the value comes from.' 'get:Print the value of one setting; nothing when it has none.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow config show") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '--reveal:Print passwords instead of hiding them.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow config get") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '--reveal:Print passwords instead of hiding them.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow status") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow db") offers=('migrate:Bring the database to the schema of this version; make the embedded one when missing.' 'status:Show where the schema stands; exit 5 when this version of Flow cannot work with it.' 'check:Verify what always holds (flow-internals(7)); exit 1 when something does not.' 'shell:Become psql on the database. The login is neither in its arguments nor its environment.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow db migrate") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow db status") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow db check") offers=('--days:Look at runs of the last N days.' '--all:Look at all finished runs, however many.' '-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow db shell") offers=('-c:Run this and leave.' '--command:Run this and leave.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow completion") offers=('bash' 'zsh' 'fish' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _flow "$@"
else
    compdef _flow flow
fi
