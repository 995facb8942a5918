"""The long-lived processes: thin loops around store, decision and the processes of users."""
