import json

import pendulum

from flow import dag, task


@dag(
    schedule=None,
    start_date=pendulum.datetime(2021, 1, 1, tz="Europe/Zurich"),
    catchup=False,
    tags=["example"],
)
def taskflow_etl():
    """### TaskFlow"""

    @task()
    def extract():
        return json.loads('{"1001": 301.27, "1002": 433.21}')

    @task(multiple_outputs=True)
    def transform(order_data_dict: dict):
        return {"total": sum(order_data_dict.values())}

    @task()
    def load(total_order_value: float):
        print(f"Total order value is: {total_order_value:.2f}")

    order_data = extract()
    order_summary = transform(order_data)
    load(order_summary["total"])


taskflow_etl()
