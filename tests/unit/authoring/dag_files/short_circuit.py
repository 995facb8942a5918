from datetime import datetime

from flow import chain
from flow.authoring.dag import DAG
from flow.operators.empty import EmptyOperator
from flow.operators.python import ShortCircuitOperator

dag = DAG("short_circuit", start_date=datetime(2024, 1, 1), schedule="0 6 * * 1-5")

cond_true = ShortCircuitOperator(task_id="condition_is_True", python_callable=lambda: True, dag=dag)
cond_false = ShortCircuitOperator(
    task_id="condition_is_False",
    python_callable=lambda: False,
    ignore_downstream_trigger_rules=False,
    dag=dag,
)
ds_true = [EmptyOperator(task_id=f"true_{i}", dag=dag) for i in [1, 2]]
ds_false = [EmptyOperator(task_id=f"false_{i}", dag=dag, trigger_rule="all_done") for i in [1, 2]]
chain(cond_true, *ds_true)
chain(cond_false, *ds_false)
