"""What a DAG file is written with, and the way from there to a `DagSpec`. Pure data, no I/O.

`flow` itself offers the public names; the modules here hold one noun each.
"""
