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
            case 'flow --config' 'flow --deployment' 'flow init -o' 'flow init --output' 'flow config show -o' 'flow config show --output' 'flow config get -o' 'flow config get --output'
                set skip 1
            case 'flow init' 'flow config' 'flow config show' 'flow config get' 'flow completion'
                set route "$route $word"
        end
    end
    test "$route" = "$argv[1]"
end
complete -c flow -f
complete -c flow -n "__flow_at 'flow'" -a init -d 'Make a project folder: flow.toml, dags/ with an example, tests/.'
complete -c flow -n "__flow_at 'flow'" -a config -d 'Show settings and where each value comes from.'
complete -c flow -n "__flow_at 'flow'" -a completion -d 'Print the completion script of a shell.'
complete -c flow -n "__flow_at 'flow'" -l config -r -F -d 'Settings file, instead of the nearest flow.toml. Also: FLOW_CONFIG.'
complete -c flow -n "__flow_at 'flow'" -l deployment -x -d 'Table [deployment.NAME] of the settings file to use. Also: FLOW_DEPLOYMENT.'
complete -c flow -n "__flow_at 'flow'" -l debug -d 'Show the traceback of an error.'
complete -c flow -n "__flow_at 'flow'" -l version -d 'Print the version and exit.'
complete -c flow -n "__flow_at 'flow'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow init'" -s o -l output -x -a 'text json jsonl' -d 'Form of the result: text for people, one JSON document, or one JSON object a line.'
complete -c flow -n "__flow_at 'flow init'" -s h -l help -d 'Show this message and exit.'
complete -c flow -n "__flow_at 'flow init'" -a '(__fish_complete_directories)'
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
