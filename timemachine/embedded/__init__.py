"""`make up`: run Postgres from a wheel, a worker and the web server on one machine."""
