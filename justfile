# The habits of this project; `just` alone lists them.

own := justfile_directory() / ".venv/bin/python"
python := env("PYTHON", if path_exists(own) == "true" { own } else { "python3" })
export PYTHONPATH := justfile_directory() / "engine" + ":" + justfile_directory() / "cli" + ":" + justfile_directory() / "tui" + ":" + justfile_directory() / "tests"

_default:
    @just --list --unsorted

# Write everything that is generated: manual pages, completions, the dump of the schema
generate: schema
    {{ python }} -m flow_cli.generate

# Write tests/store/schema.sql from a freshly migrated database
schema:
    {{ python }} -m store.dump

# Style, types, boundaries, and whether generated files are fresh
check:
    {{ python }} -m ruff check .
    {{ python }} -m ruff format --check .
    {{ python }} -m mypy
    {{ python }} -c "from importlinter.cli import lint_imports_command as run; run()" --no-logo
    {{ python }} -m flow_cli.generate --check

# Run tests, all of them or those named: just test tests/unit -k retry
test *arguments:
    {{ python }} -m pytest {{ arguments }}

# Look for what breaks the reference of the store: so many examples, other ones each time
model examples="300":
    FLOW_MODEL_EXAMPLES={{ examples }} {{ python }} -m pytest tests/store/model

# Measure, and print a table: just bench hop
bench *names:
    {{ python }} tests/bench/table.py {{ names }}

# Measure on top of 20 million finished tries; takes half an hour
bench-full:
    FLOW_BENCH_TRIES=20000000 {{ python }} tests/bench/history.py

# Break the product once for each case, and demand that the case turns red: just breaks T43
breaks *cases:
    {{ python }} -m cases.breaks {{ cases }}

# Three hundred kills and all other faults, in at most 25 minutes: just soak --seed 7
soak *arguments:
    {{ python }} tests/chaos/soak.py {{ arguments }}

# Ten minutes of random edits in a folder of 5,000 DAG files, 50 of them hostile
parse-soak *arguments:
    {{ python }} tests/parse_soak/soak.py {{ arguments }}

# Repair a night in the terminal UI, as a robot in tmux, against live roles
robot:
    {{ python }} -m pytest tests/tui/test_robot.py
