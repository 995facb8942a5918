from datetime import datetime

from flow import DAG, TaskGroup
from flow.operators.empty import EmptyOperator


def tell(context):
    pass


with DAG(
    "callbacks",
    start_date=datetime(2024, 1, 1),
    on_success_callback=tell,
    doc_md="# Callbacks",
    owner_links={"data": "mailto:data@example.com"},
    dag_display_name="Rückrufe",
) as dag:
    with TaskGroup("g", prefix_group_id=False):
        a = EmptyOperator(task_id="a", on_success_callback=tell)
        b = EmptyOperator(task_id="b", on_failure_callback=[tell, tell])
    c = EmptyOperator(task_id="c", task_display_name="Tsé", doc="text", owner="data")
    c << b << a
