"""Django's settings. Those that an operator can set come from the environment: see docs/settings.md."""

import os
import secrets
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dj_database_url
import django_stubs_ext
from django.utils.csp import CSP
from psycopg.conninfo import make_conninfo

from timemachine.config import env
from timemachine.config.broker import LONGEST_JOB
from timemachine.core.accounts.provider.pure.roles import parse_roles
from timemachine.core.pure.home import DATABASE_IS_ELSEWHERE, home, running_server
from timemachine.evidence.pure.key_store_names import DATABASE as DATABASE_KEYS
from timemachine.evidence.pure.key_store_names import PKCS11, check_key_store
from timemachine.governance.audit_log.addresses import syslog_server, webhook_address
from timemachine.llm.table import PROVIDERS

django_stubs_ext.monkeypatch()  # lets generic Django classes take type parameters

PACKAGE = Path(__file__).resolve().parent.parent
PAGES = (
    PACKAGE / "web" if (PACKAGE / "web" / "templates").is_dir() else PACKAGE.parent
)  # in the wheel; in a checkout
DEBUG = False


def _database_url() -> str:
    chosen = env.secret("DATABASE_URL")
    if chosen:
        return chosen
    server = running_server()
    if server is None:
        sockets = quote(str(home() / "run"), safe="")
        return f"postgresql://postgres@{sockets}/timemachine"
    return server.database_url or sys.exit(DATABASE_IS_ELSEWHERE)


def _owner_url() -> str:
    server = None if env.secret("DATABASE_URL") else running_server()
    return env.secret("DATABASE_OWNER_URL") or (server.database_owner_url if server else "")


def _local_url() -> str:
    server = None if env.text("PORT") else running_server()
    return server.url if server else f"http://127.0.0.1:{env.number('PORT', 8000)}"


# without one, what is signed is valid only in this process
SECRET_KEY, *SECRET_KEY_FALLBACKS = env.secret_keys() or [secrets.token_urlsafe(50)]
PUBLIC_URL = env.text("TIMEMACHINE_PUBLIC_URL", _local_url()).rstrip("/")
SECURE = PUBLIC_URL.startswith("https://")
ALLOWED_HOSTS = [
    *env.names("ALLOWED_HOSTS"),
    "127.0.0.1",
    "localhost",
    "[::1]",
]  # health checks use the last three
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if SECURE else []

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "ninja",
    "timemachine",
]
WEB_PROCESSES = min(2, os.cpu_count() or 1)
"""How many processes answer requests, see `timemachine.config.server`."""
MIDDLEWARE = [
    "timemachine.web.request_ids.RequestIds",  # first, so that every log line and response has the id
    "timemachine.web.row_security.RowSecurity",  # before everything that reads the database
    "timemachine.web.metrics.requests.RequestMetrics",
    "timemachine.web.sharing.visitors.SharedHeaders",  # before others, so that every response gets them
    "timemachine.api.requests.NotStored",
    "timemachine.web.hosts.AllowedHosts",
    "timemachine.web.callers.Callers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "timemachine.web.downloads.DownloadBegun",
    "timemachine.web.request_queue.RequestQueue",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "timemachine.web.http.Compressed",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "timemachine.web.settings.this_browser.NotedUse",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "timemachine.web.errors.ErrorPages",
    "timemachine.api.errors.ApiErrors",
]
ROOT_URLCONF = "timemachine.config.urls"
WSGI_APPLICATION = "timemachine.config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PAGES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "timemachine.web.access.project_context",
            ],
            "libraries": {"tm": "timemachine.web.display"},
            "builtins": ["timemachine.web.display"],
        },
    }
]

# --- the database

_database_config = dj_database_url.parse(_database_url())
_url_options = _database_config.get("OPTIONS", {})  # such as ?sslmode=verify-full
_options: dict[str, object] = {**_url_options, "prepare_threshold": 5}  # by default, none is prepared
# only for the web server: around every task, Celery's Django integration would close the pool
if env.text("TIMEMACHINE_PROCESS") == "web":
    from timemachine.config import pool

    # a connection for each of the 20 threads
    _options["pool"] = pool.options(env.number("DATABASE_POOL_SIZE", 24))
_backend = {"ENGINE": "timemachine.core.postgresql"}
DATABASES: dict[str, dict[str, Any]] = {
    "default": {**_database_config, **_backend, "OPTIONS": _options, "CONN_MAX_AGE": 0}
}
if _owner_url() not in (
    "",
    _database_url(),
):  # only of programs that change tables and indexes, see `timemachine.core.database_roles`
    DATABASES["owner"] = {**dj_database_url.parse(_owner_url()), "CONN_MAX_AGE": 0}

REPLICA_WAIT_SECONDS = env.number("DATABASE_REPLICA_WAIT_MS", 100) / 1000
if env.secret("DATABASE_REPLICA_URL") and env.text("TIMEMACHINE_PROCESS") == "web":
    _replica_config = dj_database_url.parse(env.secret("DATABASE_REPLICA_URL"))
    _lost_after = {
        "connect_timeout": 2,
        "tcp_user_timeout": 3000,
        "keepalives_idle": 2,
        "keepalives_interval": 1,
        "keepalives_count": 3,
    }
    _replica_options = {
        **_lost_after,
        **_replica_config.get("OPTIONS", {}),
        "prepare_threshold": 5,
        "pool": pool.options(env.number("DATABASE_POOL_SIZE", 24), alias="replica", wait=0.5),
    }
    DATABASES["replica"] = {
        **_replica_config,
        "ENGINE": DATABASES["default"]["ENGINE"],
        "OPTIONS": _replica_options,
        "CONN_MAX_AGE": 0,
    }  # see `timemachine.core.replica`

# --- people

AUTH_USER_MODEL = "timemachine.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign_in"
CSRF_FAILURE_VIEW = "timemachine.web.errors.refused"
OIDC_NAME = env.text("OIDC_NAME", "Single sign-on")
OIDC_DISCOVERY_URL = env.text("OIDC_DISCOVERY_URL")
OIDC_CLIENT_ID = env.text("OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = env.secret("OIDC_CLIENT_SECRET")
OIDC_SCOPES = env.text("OIDC_SCOPES", "openid email profile")
OIDC_GROUPS_CLAIM = env.text("OIDC_GROUPS_CLAIM", "groups")
OIDC_EMAILS_ARE_VERIFIED = env.flag("OIDC_EMAILS_ARE_VERIFIED")
OIDC_ROLES = env.parsed("OIDC_ROLES", lambda text: parse_roles(text, ("viewer", "operator", "admin")))
# without a provider there would be no way in
PASSWORD_SIGN_IN = env.choice("PASSWORD_SIGN_IN", "yes", "no") == "yes" or not OIDC_DISCOVERY_URL
SESSION_ENGINE = "timemachine.core.accounts.browser_sessions"
SIGN_IN_IDLE = timedelta(minutes=env.number("SIGN_IN_IDLE_MINUTES", 720))
SIGN_IN_LONGEST = timedelta(hours=env.number("SIGN_IN_LONGEST_HOURS", 168))
SESSION_COOKIE_AGE = int(SIGN_IN_LONGEST.total_seconds())
SESSION_COOKIE_NAME = "__Host-tm_session" if SECURE else "tm_session"
CSRF_COOKIE_NAME = "__Host-tm_csrf" if SECURE else "tm_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# --- browsers

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "object-src": [CSP.NONE],
}
SECURE_REFERRER_POLICY = "same-origin"  # no-referrer would break the CSRF check on HTTPS
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds()) if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE
SECURE_SSL_REDIRECT = SECURE
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("BEHIND_PROXY") else None
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(home() / "static")))
STATICFILES_DIRS = [PAGES / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_MAX_AGE = 3600

MAX_ACTION_BYTES = 8 * 1024 * 1024
MAX_REQUEST_BYTES = 64 * 1024 * 1024
MAX_IMPORT_BYTES = 512 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_REQUEST_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
LANGUAGE_CODE = "en"

# --- the queue. It only wakes workers: PostgreSQL knows what there is to do, and the sweep enqueues what is overdue.

CELERY_BROKER_URL = env.secret("CELERY_BROKER_URL") or "pgmq://"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SOFT_TIME_LIMIT = 1500
CELERY_TASK_TIME_LIMIT = 1600
CELERY_WORKER_CONCURRENCY = env.number("WORKER_PLACES", 8)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# After a lost connection, Celery would raise the limit from the threads of jobs, which then read what the main thread waits for
CELERY_WORKER_ENABLE_PREFETCH_COUNT_REDUCTION = False
CELERY_WORKER_DETECT_QUORUM_QUEUES = (
    False  # otherwise RabbitMQ gets 28 queues for delayed messages, which we never send
)
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # otherwise every worker leaves two tables behind
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker never gives up
CELERY_BEAT_SCHEDULER = "timemachine.config.beat:Scheduler"
CELERY_BROKER_HEARTBEAT = 10  # of RabbitMQ
CELERY_TIMEZONE = "UTC"
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 2, "interval_start": 0.1, "interval_max": 0.5}
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if CELERY_BROKER_URL.startswith("redis"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": LONGEST_JOB,
        "socket_connect_timeout": 3,
        "socket_timeout": 5,
    }
if CELERY_BROKER_URL.startswith(("amqp", "pyamqp")):
    CELERY_BROKER_TRANSPORT_OPTIONS = {"confirm_publish": True, "read_timeout": 30, "write_timeout": 5}
if CELERY_BROKER_URL.startswith("pgmq"):
    _database = DATABASES["default"]
    _parts: dict[str, Any] = {
        "host": _database["HOST"],
        "port": _database["PORT"] or 5432,
        "user": _database["USER"],
        "password": _database["PASSWORD"],
        "dbname": _database["NAME"],
        **_url_options,
    }
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "conn_string": make_conninfo(
            **{name: value for name, value in _parts.items() if value not in ("", None)}
        ),
        "init_extension": False,
        "wait_time_seconds": 0,
        "polling_interval": 1,
        "notify_throttle_interval_ms": 0,
        "pool_size": 4,
        "pool_timeout": 5,  # otherwise launching waits 30 s for an unreachable queue
        "queue_name_prefix": "tm_",
        "visibility_timeout": LONGEST_JOB,
    }
SWEEP_SECONDS = env.number("SWEEP_SECONDS", 10)

# --- search

APPROXIMATE_SEARCH_FROM = env.number("APPROXIMATE_SEARCH_FROM", 20_000)

# --- replays

LEASE_SECONDS = env.number("LEASE_SECONDS", 20)

# --- evidence

SEAL_SECONDS = env.number("SEAL_SECONDS", 300)
SIGNING_KEY_STORE = env.checked("SIGNING_KEY_STORE", check_key_store) or DATABASE_KEYS
PKCS11_MODULE = env.text("PKCS11_MODULE")
PKCS11_TOKEN = env.text("PKCS11_TOKEN")
PKCS11_PIN = env.secret("PKCS11_PIN")
if SIGNING_KEY_STORE == PKCS11 and not (PKCS11_MODULE and PKCS11_TOKEN and PKCS11_PIN):
    sys.exit("SIGNING_KEY_STORE is pkcs11. Set PKCS11_MODULE, PKCS11_TOKEN and PKCS11_PIN as well.")

# --- files: limits of the process that reads one

DOCUMENT_SECONDS = env.number("DOCUMENT_SECONDS", 60)
DOCUMENT_MEMORY_MB = env.number("DOCUMENT_MEMORY_MB", 768)

# --- models

DEFAULT_MODEL = env.text("DEFAULT_MODEL", "local:extractive")
MODEL_HOSTS_ALLOWED = env.names("MODEL_HOSTS_ALLOWED")
AUDIT_WEBHOOK = env.checked("AUDIT_WEBHOOK", webhook_address)
AUDIT_WEBHOOK_SECRET = env.secret("AUDIT_WEBHOOK_SECRET")
AUDIT_SYSLOG = env.checked("AUDIT_SYSLOG", syslog_server)
EVIDENCE_HOSTS_ALLOWED = env.names("EVIDENCE_HOSTS_ALLOWED")
MODEL_CALLS_AT_ONCE = env.number("MODEL_CALLS_AT_ONCE", 16)
# of the web server's twenty threads, so that most remain for pages
ASKS_AT_ONCE = env.number("ASKS_AT_ONCE", 5)
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL", "wordllama")
MODEL_PRICES = env.text("MODEL_PRICES")
ANSWER_CACHE_MAX_MB = env.number("ANSWER_CACHE_MAX_MB", 64)
ANSWER_CACHE_MAX_AGE_DAYS = env.number("ANSWER_CACHE_MAX_AGE_DAYS", 30)

for _variable in ("EMBEDDING_SERVER_API_KEY", *(each.key_variable for each in PROVIDERS.values())):
    if _variable:
        env.secret(_variable)  # each call reads it again; this ends a program with a wrong one

# --- metrics and health

MIN_FREE_DISK_MB = env.number("MIN_FREE_DISK_MB", 200)
METRICS_TOKEN = env.secret("METRICS_TOKEN")

# --- logs: to standard error, one line each, never with a body

LOG_REQUESTS = env.flag("LOG_REQUESTS")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "timemachine.web.logs.Line",
            "format": "{asctime} {levelname} {name} {message}",
            "style": "{",
        },
        "json": {"()": "timemachine.web.logs.JsonLine"},
    },
    "filters": {
        "without_secrets": {"()": "timemachine.web.logs.WithoutSecrets"},
        "refusals": {"()": "timemachine.web.logs.Refusals"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": env.choice("LOG_FORMAT", "line", "json"),
            "filters": ["without_secrets"],
        }
    },
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"filters": ["refusals"]},
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
        "pgmq": {"level": "WARNING"},
        "psycopg.pool": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        "kombu.connection": {"level": "ERROR"},  # that PGMQ has no host name is no problem
    },
}
