"""The Celery app. It uses PGMQ in the same PostgreSQL, or RabbitMQ or Redis if `CELERY_BROKER_URL` names one."""

import logging
import os
from typing import Any

import click
from celery import Celery
from celery.signals import celeryd_after_setup, celeryd_init, setup_logging, worker_init
from kombu import Exchange, Queue

from timemachine.config import broker
from timemachine.core.pure.queue_names import DEFAULT, QUEUES
from timemachine.jobs.places import FEWEST_PLACES, most_places

log = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
broker.install()

app = Celery("timemachine", amqp="timemachine.config.broker:Amqp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_default_queue = DEFAULT
app.conf.task_queues = [
    Queue(name, Exchange(DEFAULT), routing_key=name, queue_arguments=broker.RABBITMQ_QUEUE) for name in QUEUES
]
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


@celeryd_after_setup.connect(weak=False)
def share_places(instance: Any, conf: Any, **_: Any) -> None:
    """Keep places of this worker free for each queue that it serves."""
    served, places = list(app.amqp.queues.consume_from), instance.concurrency
    if places < min(len(served), FEWEST_PLACES):
        log.warning(
            "%s places are too few to keep one free for each of the queues %s", places, ", ".join(served)
        )
    conf.broker_transport_options = {
        **conf.broker_transport_options,
        broker.MOST: most_places(served, places),
    }


@worker_init.connect(weak=False)
def check(**_: Any) -> None:
    """End the worker if its database cannot be used."""
    from timemachine.core.requirements import exit_if_unsuitable

    exit_if_unsuitable()
