"""The service that the tests use: a real one, which ``test/client/python.test.ts`` starts."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from oddwire import Backoff, Client

#: Debian packages neither pyarrow nor Polars.
collect_ignore = ["test_other_frames.py" for name in ("pyarrow", "polars") if importlib.util.find_spec(name) is None]

#: Retries without the waits.
FAST = Backoff(attempts=3, first_wait=0.01, longest_wait=60)


@dataclass(frozen=True)
class Service:
    url: str
    read_key: str
    admin_key: str
    token_id: str


@pytest.fixture(scope="session")
def service() -> Service:
    names = ("ODDWIRE_URL", "ODDWIRE_API_KEY", "ODDWIRE_ADMIN_KEY", "TOKEN_ID")
    if any(name not in os.environ for name in names):
        pytest.exit("start these tests with `node --test test/client/python.test.ts`, which starts a service", 1)
    return Service(*(os.environ[name] for name in names))


@pytest.fixture(scope="session")
def client(service: Service) -> Iterator[Client]:
    with Client(service.url, service.read_key, backoff=FAST) as client:
        yield client
