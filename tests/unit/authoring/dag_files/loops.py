from datetime import datetime

from flow import DAG, chain_linear, cross_downstream, task
from flow.operators.bash import BashOperator
from flow.operators.empty import EmptyOperator

TABLES = ["orders", "customers", "items"]

with DAG("loops", start_date=datetime(2024, 3, 1), schedule="*/15 * * * *", catchup="none") as dag:
    begin = EmptyOperator(task_id="begin")
    finish = EmptyOperator(task_id="finish")
    previous = begin
    for table in TABLES:
        current = BashOperator(task_id=f"load_{table}", bash_command=f"load {table}")
        previous >> current
        previous = current
    previous >> finish
    cross_downstream([begin, previous], [EmptyOperator(task_id=f"x{i}") for i in range(2)])

    @task
    def add(n: int) -> int:
        return n + 1

    value = add(1)
    for _ in range(3):
        value = add(value)
    chain_linear(value, [EmptyOperator(task_id="y0"), EmptyOperator(task_id="y1")], finish)
