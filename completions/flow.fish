# Completion for flow. Written by flow_cli.generate; changes here are lost.
function __flow_at
    set -l route flow
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$route $word"
            case 'flow --config' 'flow --deployment' 'flow up --dags' 'flow up --workers' 'flow up --schedulers' 'flow up --slots' 'flow down -o' 'flow down --output' 'flow down --timeout' 'flow init -o' 'flow init --output' 'flow parse --dags' 'flow parse --timeout' 'flow parse --processes' 'flow work --slots' 'flow work --queues' 'flow work --drain-timeout' 'flow config show -o' 'flow config show --output' 'flow config get -o' 'flow config get --output'
                set skip 1
            case 'flow up' 'flow down' 'flow init' 'flow parse' 'flow schedule' 'flow work' 'flow config' 'flow config show' 'flow config get' 'flow completion'
                set route "$route $word"
        end
    end
    test "$route" = "$argv[1]"
end
complete -c flow -f
complete -c flow -n "__flow_at 'flow'" -a up -d 'Run everything on this machine: database, parser, schedulers, workers.'
complete -c flow -n "__flow_at 'flow'" -a down -d 'Stop what flow up started: parser, schedulers, workers, and the embedded database.'
complete -c flow -n "__flow_at 'flow'" -a init -d 'Make a project folder: flow.toml, dags/ with an example, tests/.'
complete -c flow -n "__flow_at 'flow'" -a parse -d 'Import DAG files, each in a process of its own, and store the DAGs they define.'
complete -c flow -n "__flow_at 'flow'" -a schedule -d 'Create due runs, decide what may go, find lost workers.'
complete -c flow -n "__flow_at 'flow'" -a work -d 'Claim queued tasks and run each try in a process of its own.'
complete -c flow -n "__flow_at 'flow'" -a config -d 'Show settings and where each value comes from.'
complete -c flow -n "__flow_at 'flow'" -a completion -d 'Print the completion script of a shell.'
complete -c flow -n "__flow_at 'flow'" -l config -r -F -d 'Settings file, instead of the nearest flow.toml. Also: FLOW_CONFIG.'
complete -c flow -n "__flow_at 'flow'" -l deployment -x -d 'Table [deployment.NAME] of the settings file to use. Also: FLOW_DEPLOYMENT.'
complete -c flow -n "__flow_at 'flow'" -l debug -d 'Show the traceback of an error.'
complete -c flow -n "__flow_at 'flow'" -l version -d 'Print the version and exit.'
complete -c flow -n "__flow_at 'flow'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow up'" -l dags -x -a '(__fish_complete_directories)' -d 'Folder of DAG files.'
complete -c flow -n "__flow_at 'flow up'" -l workers -x -d 'Workers.'
complete -c flow -n "__flow_at 'flow up'" -l schedulers -x -d 'Schedulers.'
complete -c flow -n "__flow_at 'flow up'" -l slots -x -d 'Tries at once per worker.'
complete -c flow -n "__flow_at 'flow up'" -l detach -d 'Return once everything runs; logs go to a file.'
complete -c flow -n "__flow_at 'flow up'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow down'" -s o -l output -x -a 'text json jsonl' -d 'Form of the result: text for people, one JSON document, or one JSON object a line.'
complete -c flow -n "__flow_at 'flow down'" -l now -d 'End running tries instead of waiting for them.'
complete -c flow -n "__flow_at 'flow down'" -l timeout -x -d 'Give up waiting after S seconds.'
complete -c flow -n "__flow_at 'flow down'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow init'" -s o -l output -x -a 'text json jsonl' -d 'Form of the result: text for people, one JSON document, or one JSON object a line.'
complete -c flow -n "__flow_at 'flow init'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow init'" -a '(__fish_complete_directories)'
complete -c flow -n "__flow_at 'flow parse'" -l once -d 'Look at every file once, then end.'
complete -c flow -n "__flow_at 'flow parse'" -l dags -x -a '(__fish_complete_directories)' -d 'Folder of DAG files.'
complete -c flow -n "__flow_at 'flow parse'" -l timeout -x -d 'Seconds an import may take.'
complete -c flow -n "__flow_at 'flow parse'" -l processes -x -d 'Files imported at once.'
complete -c flow -n "__flow_at 'flow parse'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow schedule'" -l once -d 'Work until nothing is due or ready, then end.'
complete -c flow -n "__flow_at 'flow schedule'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow work'" -l slots -x -d 'Tries at once; 0 claims nothing.'
complete -c flow -n "__flow_at 'flow work'" -l queues -x -d 'Queues to serve.'
complete -c flow -n "__flow_at 'flow work'" -l once -d 'End when nothing is queued and nothing runs.'
complete -c flow -n "__flow_at 'flow work'" -l drain-timeout -x -d 'Seconds to wait when draining.'
complete -c flow -n "__flow_at 'flow work'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow config'" -a show -d 'Show every setting, its value and where the value comes from.'
complete -c flow -n "__flow_at 'flow config'" -a get -d 'Print the value of one setting; nothing when it has none.'
complete -c flow -n "__flow_at 'flow config'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow config show'" -s o -l output -x -a 'text json jsonl' -d 'Form of the result: text for people, one JSON document, or one JSON object a line.'
complete -c flow -n "__flow_at 'flow config show'" -l reveal -d 'Print passwords instead of hiding them.'
complete -c flow -n "__flow_at 'flow config show'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow config get'" -s o -l output -x -a 'text json jsonl' -d 'Form of the result: text for people, one JSON document, or one JSON object a line.'
complete -c flow -n "__flow_at 'flow config get'" -l reveal -d 'Print passwords instead of hiding them.'
complete -c flow -n "__flow_at 'flow config get'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow completion'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow completion'" -a 'bash zsh fish'
