"""The Celery app. It uses PGMQ in the same PostgreSQL, or RabbitMQ or Redis if `CELERY_BROKER_URL` names one."""

import os
from typing import Any

import click
from celery import Celery
from celery.signals import celeryd_init, setup_logging, worker_init
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
TRANSPORT_ALIASES["pgmq"] = "timemachine.config.broker:Transport"

app = Celery("timemachine")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["timemachine.jobs"], related_name="registry")
app.user_options["worker"].add(click.Option(["--beat-thread"], is_flag=True))
app.steps["worker"].add("timemachine.config.beat:BeatThread")


@setup_logging.connect(weak=False)
def keep_logging(**_: Any) -> None:
    """Keep Django's `LOGGING`, as every receiver of this signal does. Celery would set a level of its own."""


@celeryd_init.connect(weak=False)
def listen(conf: Any, **_: Any) -> None:
    """Wake the worker by NOTIFY. Only for workers: a publisher would hold a connection that it never reads."""
    if str(conf.broker_url).startswith("pgmq"):
        conf.broker_transport_options = {**conf.broker_transport_options, "use_notify": True}


@worker_init.connect(weak=False)
def check(**_: Any) -> None:
    """End the worker if its database cannot be used."""
    from timemachine.core.requirements import exit_if_unsuitable

    exit_if_unsuitable()
