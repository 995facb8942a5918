import pendulum

from flow import DAG, TaskGroup
from flow.operators.bash import BashOperator
from flow.operators.empty import EmptyOperator

with DAG(
    dag_id="groups",
    schedule=None,
    start_date=pendulum.datetime(2021, 1, 1, tz="UTC"),
    catchup=False,
) as dag:
    start = EmptyOperator(task_id="start")
    with TaskGroup("section_1", tooltip="Tasks for section_1") as section_1:
        task_1 = EmptyOperator(task_id="task_1")
        task_2 = BashOperator(task_id="task_2", bash_command="echo 1")
        task_3 = EmptyOperator(task_id="task_3")
        task_1 >> [task_2, task_3]
    with TaskGroup("section_2", tooltip="Tasks for section_2") as section_2:
        task_1 = EmptyOperator(task_id="task_1")
        with TaskGroup("inner_section_2", default_args={"retries": 4}) as inner_section_2:
            task_2 = BashOperator(task_id="task_2", bash_command="echo 1")
            task_3 = EmptyOperator(task_id="task_3")
            task_4 = EmptyOperator(task_id="task_4")
            [task_2, task_3] >> task_4
    end = EmptyOperator(task_id="end")
    start >> section_1 >> section_2 >> end
