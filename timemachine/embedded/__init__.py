"""One machine, one command: Postgres from a wheel and the processes that `make up` runs."""
