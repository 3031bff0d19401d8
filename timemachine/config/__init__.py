"""Wiring: settings, URLs, the queue. Importing it loads the Celery app, so that every process that enqueues jobs has
its broker.
"""

from timemachine.config.celery import app as celery_app

__all__ = ["celery_app"]
