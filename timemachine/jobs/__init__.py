"""Running the jobs that the domains declare in their `tasks.py`. Only this package and the configuration know Celery."""
