"""Everything that can go wrong is one clear exception."""

from __future__ import annotations

import asyncio
import json

import pytest

import oddwire
from conftest import FAST, Service
from oddwire import AsyncClient, Backoff, Client
from scripted_server import Answer, scripted_server


def error(status: int, code: str, **headers: str) -> Answer:
    body = {"error": {"code": code, "message": "a reason", "request_id": "r1"}}
    return Answer(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


PAGE = Answer(200, b'{"data": [], "pagination": {"limit": 1, "has_more": false, "next_cursor": null}, "meta": {}}')
BROKEN = Answer(200, b'{"data": [', missing=100)


def test_an_invalid_parameter_is_named(client: Client) -> None:
    with pytest.raises(oddwire.InvalidRequestError) as caught:
        client.trades(side="HOLD").page()  # type: ignore[arg-type]
    assert caught.value.status == 400
    assert caught.value.code == "VALIDATION_ERROR"
    assert caught.value.details[0]["parameter"] == "side"
    assert f"request {caught.value.request_id}" in str(caught.value)


def test_a_wrong_key(service: Service) -> None:
    with Client(service.url, "ow_read_wrong") as client, pytest.raises(oddwire.AuthenticationError):
        client.trades().page()


def test_no_key(service: Service) -> None:
    with Client(service.url) as client, pytest.raises(oddwire.AuthenticationError, match="no API key was given"):
        client.trades().page()


def test_a_scope_that_is_too_low(client: Client) -> None:
    with pytest.raises(oddwire.ForbiddenError):
        client.keys().page()


def test_an_unknown_token(client: Client) -> None:
    with pytest.raises(oddwire.NotFoundError):
        client.price("1")


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        (error(403, "IP_BLOCKED", Retry_After="60"), oddwire.IpBlockedError, 1),
        (error(429, "RATE_LIMITED", Retry_After="0"), oddwire.RateLimitedError, 3),
        (error(429, "RATE_LIMITED", Retry_After="61"), oddwire.RateLimitedError, 1),
        (error(503, "SERVICE_UNAVAILABLE", Retry_After="0"), oddwire.ServiceUnavailableError, 3),
        (error(503, "SERVICE_UNAVAILABLE"), oddwire.ServiceUnavailableError, 1),
        (error(500, "INTERNAL_ERROR"), oddwire.ServiceUnavailableError, 3),
        (error(404, "NOT_FOUND"), oddwire.NotFoundError, 1),
        (BROKEN, oddwire.UnreachableError, 3),
        (Answer(200, b"<html>", {"Content-Type": "text/html"}), oddwire.NotOddwireError, 1),
        (Answer(301, b"", {"Location": "https://example.com/"}), oddwire.NotOddwireError, 1),
        (Answer(200, b"[]"), oddwire.NotOddwireError, 1),
        (Answer(200, b"{}"), oddwire.NotOddwireError, 1),
        (Answer(200, b'{"data": [], "pagination": null, "meta": {}}'), oddwire.NotOddwireError, 1),
        (Answer(200, b'{"data": 5, "pagination": {"next_cursor": null}, "meta": {}}'), oddwire.NotOddwireError, 1),
        (Answer(200, b"[" * 100_000), oddwire.NotOddwireError, 1),
        (Answer(500, b'{"error": {"code": "X", "message": "", "details": 5}}'), oddwire.NotOddwireError, 1),
        (error(503, "SERVICE_UNAVAILABLE", Retry_After="\u00b2"), oddwire.ServiceUnavailableError, 1),
    ],
)
def test_an_answer_is_repeated_where_that_can_help(
    answer: Answer, kind: type[oddwire.OddwireError], requests: int
) -> None:
    async def ask(url: str) -> None:
        async with AsyncClient(url, "key", backoff=FAST) as client:
            await client.trades().page()

    with scripted_server(answer) as server, Client(server.url, "key", backoff=FAST) as client:
        with pytest.raises(kind) as caught:
            client.trades().page()
        assert type(caught.value) is kind
        assert len(server.requests) == requests
        with pytest.raises(kind):
            asyncio.run(ask(server.url))
        assert len(server.requests) == 2 * requests


def test_a_retry_can_succeed() -> None:
    refused = error(429, "RATE_LIMITED", Retry_After="0")
    with scripted_server(refused, BROKEN, PAGE) as server, Client(server.url, "key", backoff=FAST) as client:
        assert client.trades().page().data == []


def test_a_request_that_may_have_been_executed_is_not_repeated() -> None:
    with scripted_server(error(500, "INTERNAL_ERROR")) as server, Client(server.url, "key", backoff=FAST) as client:
        with pytest.raises(oddwire.ServiceUnavailableError):
            client.create_key(name="a key")
        assert len(server.requests) == 1


def test_nothing_listens() -> None:
    with scripted_server(PAGE) as server:
        url = server.url
    with Client(url, "key", backoff=FAST) as client, pytest.raises(oddwire.UnreachableError, match=url):
        client.health()


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://127.0.0.1", "http://"])
def test_a_url_that_is_not_one(url: str) -> None:
    with pytest.raises(ValueError, match="not the URL of a service"):
        Client(url, "key")


def test_an_old_service_that_lacks_an_endpoint() -> None:
    with scripted_server(error(404, "NOT_FOUND")) as server, Client(server.url, "key", backoff=FAST) as client:
        with pytest.raises(oddwire.NotFoundError, match="a reason"):
            client.stats().page()
        with pytest.raises(oddwire.NotFoundError, match="a reason"):
            client.trades().to_pandas()


def test_the_recommended_waits() -> None:
    backoff = Backoff()
    assert [backoff.wait_after(attempt, None) for attempt in (1, 2, 3)] == [1, 2, None]
    assert backoff.wait_after(1, 5) == 5
    assert backoff.wait_after(1, 61) is None
    assert Backoff(attempts=99).wait_after(40, None) == 60
