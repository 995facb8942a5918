from datetime import datetime

from flow import DAG
from flow.operators.python import PythonOperator


def create_dag(dag_id, schedule, number, default_args):
    def hello(*args):
        print(f"This is DAG: {number}")

    dag = DAG(dag_id, schedule=schedule, default_args=default_args)
    with dag:
        PythonOperator(task_id="hello", python_callable=hello)
    return dag


for n in range(1, 4):
    dag_id = f"generated_{n}"
    globals()[dag_id] = create_dag(
        dag_id, "@daily", n, {"owner": "data", "start_date": datetime(2023, 7, 1)}
    )
