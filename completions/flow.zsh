#compdef flow
# Completion for flow. Written by flow_cli.generate; changes here are lost.
_flow() {
    local route=flow
    local -i position
    local -a offers
    for ((position = 2; position < CURRENT; position++)); do
        case "$route ${words[position]}" in
            "flow --config" | "flow --deployment" | "flow up --dags" | "flow up --workers" | "flow up --schedulers" | "flow up --slots" | "flow down -o" | "flow down --output" | "flow down --timeout" | "flow init -o" | "flow init --output" | "flow parse --dags" | "flow parse --timeout" | "flow parse --processes" | "flow work --slots" | "flow work --queues" | "flow work --drain-timeout" | "flow config show -o" | "flow config show --output" | "flow config get -o" | "flow config get --output") ((position++)) ;;
            "flow up" | "flow down" | "flow init" | "flow parse" | "flow schedule" | "flow work" | "flow config" | "flow config show" | "flow config get" | "flow completion") route="$route ${words[position]}" ;;
        esac
    done
    case "$route ${words[CURRENT-1]}" in
        "flow --config") _files; return ;;
        "flow --deployment") _message value; return ;;
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
        "flow config show -o" | "flow config show --output") compadd -- text json jsonl; return ;;
        "flow config get -o" | "flow config get --output") compadd -- text json jsonl; return ;;
    esac
    case "$route" in
        "flow") offers=('up:Run everything on this machine: database, parser, schedulers, workers.' 'down:Stop what flow up started: parser, schedulers, workers, and the embedded database.' 'init:Make a project folder: flow.toml, dags/ with an example, tests/.' 'parse:Import DAG files, each in a process of its own, and store the DAGs they define.' 'schedule:Create due runs, decide what may go, find lost workers.' 'work:Claim queued tasks and run each try in a process of its own.' 'config:Show settings and where each value comes from.' 'completion:Print the completion script of a shell.' '--config:Settings file, instead of the nearest flow.toml. Also: FLOW_CONFIG.' '--deployment:Table [deployment.NAME] of the settings file to use. Also: FLOW_DEPLOYMENT.' '--debug:Show the traceback of an error.' '--version:Print the version and exit.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow up") offers=('--dags:Folder of DAG files.' '--workers:Workers.' '--schedulers:Schedulers.' '--slots:Tries at once per worker.' '--detach:Return once everything runs; logs go to a file.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow down") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '--now:End running tries instead of waiting for them.' '--timeout:Give up waiting after S seconds.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow init") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files -/ ;;
        "flow parse") offers=('--once:Look at every file once, then end.' '--dags:Folder of DAG files.' '--timeout:Seconds an import may take.' '--processes:Files imported at once.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow schedule") offers=('--once:Work until nothing is due or ready, then end.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow work") offers=('--slots:Tries at once; 0 claims nothing.' '--queues:Queues to serve.' '--once:End when nothing is queued and nothing runs.' '--drain-timeout:Seconds to wait when draining.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow config") offers=('show:Show every setting, its value and where the value comes from.' 'get:Print the value of one setting; nothing when it has none.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow config show") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '--reveal:Print passwords instead of hiding them.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow config get") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '--reveal:Print passwords instead of hiding them.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow completion") offers=('bash' 'zsh' 'fish' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _flow "$@"
else
    compdef _flow flow
fi
