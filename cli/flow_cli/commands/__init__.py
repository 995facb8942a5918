"""One file for each command or group of commands; `flow_cli.catalogue` lists them."""
