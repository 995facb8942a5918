import random

import pendulum

from flow import DAG, Label, TriggerRule
from flow.operators.empty import EmptyOperator
from flow.operators.python import BranchPythonOperator

with DAG(
    dag_id="branching",
    start_date=pendulum.datetime(2021, 1, 1, tz="UTC"),
    catchup=False,
    schedule="@daily",
    tags=["example", "example2"],
) as dag:
    options = ["branch_a", "branch_b", "branch_c"]
    run_this_first = EmptyOperator(task_id="run_this_first")
    branching = BranchPythonOperator(
        task_id="branching", python_callable=lambda: random.choice(options)
    )
    run_this_first >> branching
    join = EmptyOperator(task_id="join", trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)
    for option in options:
        t = EmptyOperator(task_id=option)
        follow = EmptyOperator(task_id="follow_" + option)
        branching >> Label(option) >> t >> follow >> join
