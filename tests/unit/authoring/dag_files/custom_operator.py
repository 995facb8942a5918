from datetime import datetime

from flow import DAG, BaseOperator


class LoadOperator(BaseOperator):
    template_fields = ("sql", "target")
    template_ext = (".sql",)
    ui_color = "#abcdef"

    def __init__(self, *, sql, target, conn_id="warehouse", **kwargs):
        super().__init__(**kwargs)
        self.sql = sql
        self.target = target
        self.conn_id = conn_id

    def execute(self, context):
        self.log.info("loading %s", self.target)
        return self.sql


class QuietLoadOperator(LoadOperator):
    def __init__(self, task_id, target, **kwargs):
        super().__init__(task_id=task_id, target=target, do_xcom_push=False, **kwargs)


with DAG(
    "custom_operator",
    schedule="@hourly",
    start_date=datetime(2024, 1, 1),
    default_args={"conn_id": "lake", "retries": 1, "sql": "select 1"},
):
    first = LoadOperator(task_id="first", target="a")
    second = QuietLoadOperator(task_id="second", target=first.output)
