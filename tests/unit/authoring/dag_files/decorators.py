from datetime import datetime

from flow import dag, get_current_context, task, task_group


@dag("decorators", schedule="@weekly", start_date=datetime(2024, 1, 1), default_args={"retries": 1})
def pipeline(region: str = "eu", rows: int = 10):
    @task(task_id="list_tables", retries=0)
    def list_tables(region) -> list[str]:
        get_current_context()
        return ["a", "b"]

    @task
    def describe(tables: list, **context) -> dict[str, int]:
        return {"count": len(tables)}

    @task.branch
    def decide(count, ds=None):
        return "small" if count < 3 else ["big", "export.dump"]

    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def is_open():
        return True

    @task.bash(env={"REGION": "{{ params.region }}"}, append_env=True)
    def report(count) -> str:
        return f"echo {count} $REGION"

    @task.skip_if(lambda context: context["run_id"].startswith("manual"), "manual")
    @task
    def small():
        pass

    @task.run_if(lambda context: True)
    @task(trigger_rule="none_failed")
    def big():
        pass

    @task_group(default_args={"pool": "exports"})
    def export(count):
        """Export."""

        @task
        def dump(number):
            pass

        @task
        def upload(where, number):
            pass

        for _ in range(2):
            upload.override(queue="net")(dump(count), number=count)

    described = describe(list_tables(region))
    chosen = decide(described["count"])
    is_open() >> chosen
    chosen >> [small(), big()]
    chosen >> export(described["count"])
    report.override(task_id="final_report", trigger_rule="all_done")(described["count"])


pipeline()
