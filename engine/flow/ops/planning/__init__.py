"""`flow plan`: the runs that will come, and what a change of DAG files does to them."""
