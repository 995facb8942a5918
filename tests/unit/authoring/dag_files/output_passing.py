from datetime import datetime

from flow import DAG, Param, XComArg
from flow.operators.bash import BashOperator
from flow.operators.python import PythonOperator

with DAG(
    dag_id="output_passing",
    schedule="@once",
    start_date=datetime(2024, 1, 1),
    params={"path": Param("/tmp/x", description="where to look"), "depth": 2},
    concurrency=8,
    code="latest",
) as dag:
    find = BashOperator(
        task_id="find",
        bash_command="find {{ params.path }} -maxdepth {{ params.depth }}",
        cwd="/",
        skip_on_exit_code=[3, 99],
        output_processor=lambda line: line.split(),
    )
    count = PythonOperator(task_id="count", python_callable=len, op_args=[find.output])
    show = BashOperator(
        task_id="show",
        bash_command="echo $N {{ ti.xcom_pull(task_ids='count') }}",
        env={"N": XComArg(count)},
    )
    PythonOperator(
        task_id="deep",
        python_callable=print,
        op_kwargs={"sep": ""},
        op_args=[{"a": [find.output, {"b": count.output["part"]}]}],
    )
