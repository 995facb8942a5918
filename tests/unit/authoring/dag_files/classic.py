from datetime import datetime, timedelta

from flow import DAG
from flow.operators.python import PythonOperator


def notify(context):
    print(context["exception"])


default_args = {
    "owner": "finance",
    "start_date": datetime(2022, 5, 1),
    "retries": 2,
    "retry_delay": timedelta(minutes=3),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(hours=1),
    "execution_timeout": timedelta(minutes=30),
    "on_failure_callback": notify,
    "trigger_rule": "all_success",
    "wait_for_downstream": False,
}

dag = DAG(
    "classic",
    default_args=default_args,
    schedule="15 3 * * *",
    catchup=True,
    max_active_runs=1,
    max_active_tasks=4,
    on_failure_callback=[notify, print],
    is_paused_upon_creation=False,
    render_template_as_native_obj=True,
    user_defined_macros={"company": "x"},
    user_defined_filters={"shout": str.upper},
    template_searchpath=["/srv/sql"],
    params={"limit": 100},
)


def fetch(**context):
    context["ti"].xcom_push(key="rows", value=3)


def store(table, ds, **kwargs):
    return kwargs["ti"].xcom_pull(task_ids="fetch", key="rows")


def check(ti, params):
    print(ti.xcom_pull(task_ids="store"), params["limit"])


fetch_task = PythonOperator(task_id="fetch", python_callable=fetch, dag=dag, pool="api")
store_task = PythonOperator(
    task_id="store", python_callable=store, op_kwargs={"table": "t_{{ ds_nodash }}"}, dag=dag
)
check_task = PythonOperator(
    task_id="check", python_callable=check, dag=dag, priority_weight=10, weight_rule="absolute"
)
fetch_task.set_downstream(store_task)
check_task.set_upstream(store_task)
