"""Reading for people: pages and records, in the fields that `-o json` promises.

Every kind of record is one named tuple here, in the order and with the names of the contract, and
its statement selects exactly these columns. Task, try and XCom rows are read through the views over
hot and history tables. A page leans on an index and never on the size of the history.
"""
