#compdef flow
# Completion for flow. Written by flow_cli.generate; changes here are lost.
_flow() {
    local route=flow
    local -i position
    local -a offers
    for ((position = 2; position < CURRENT; position++)); do
        case "$route ${words[position]}" in
            "flow --config" | "flow --deployment" | "flow init -o" | "flow init --output" | "flow config show -o" | "flow config show --output" | "flow config get -o" | "flow config get --output") ((position++)) ;;
            "flow init" | "flow config" | "flow config show" | "flow config get" | "flow completion") route="$route ${words[position]}" ;;
        esac
    done
    case "$route ${words[CURRENT-1]}" in
        "flow --config") _files; return ;;
        "flow --deployment") _message value; return ;;
        "flow init -o" | "flow init --output") compadd -- text json jsonl; return ;;
        "flow config show -o" | "flow config show --output") compadd -- text json jsonl; return ;;
        "flow config get -o" | "flow config get --output") compadd -- text json jsonl; return ;;
    esac
    case "$route" in
        "flow") offers=('init:Make a project folder: flow.toml, dags/ with an example, tests/.' 'config:Show settings and where each value comes from.' 'completion:Print the completion script of a shell.' '--config:Settings file, instead of the nearest flow.toml. Also: FLOW_CONFIG.' '--deployment:Table [deployment.NAME] of the settings file to use. Also: FLOW_DEPLOYMENT.' '--debug:Show the traceback of an error.' '--version:Print the version and exit.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers ;;
        "flow init") offers=('-o:Form of the result: text for people, one JSON document, or one JSON object a line.' '--output:Form of the result: text for people, one JSON document, or one JSON object a line.' '-h:Show this message and exit.' '--help:Show this message and exit.'); _describe flow offers; _files -/ ;;
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
