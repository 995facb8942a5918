"""The only place that speaks SQL.

One module per aggregate. A statement is a named constant with its reason, the index it leans on and
its locks. Functions take an open connection and never commit: who opens a transaction
(`flow.store.connect.transaction`) commits it.
"""
