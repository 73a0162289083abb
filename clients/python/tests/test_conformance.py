"""The calls of ``clients/conformance.json``, which the TypeScript client answers alike."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import oddwire
from conftest import FAST, Service
from oddwire import AsyncClient, AsyncPages, Client, Pages
from scripted_server import Answer, scripted_server

CALLS = json.loads((Path(__file__).parents[2] / "conformance.json").read_text())


def name_of(call: dict[str, Any]) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", call["method"])


def check(call: dict[str, Any], answer: Any) -> None:
    """Check the fields that a call names."""
    if isinstance(answer, list):
        assert len(answer) == call["rows"]
        expected = {index: call[name] for index, name in ((0, "first"), (-1, "last")) if name in call}
        for index, fields in expected.items():
            assert answer[index] == {**answer[index], **fields}
    else:
        assert answer == {**answer, **call["answer"]}


def served(call: dict[str, Any]) -> Answer:
    other = call["served"]
    return Answer(other["status"], other["body"].encode(), other["headers"])


def check_error(call: dict[str, Any], error: oddwire.OddwireError) -> None:
    parameters = [detail["parameter"] for detail in error.details]
    assert {"status": error.status, "code": error.code, "parameters": parameters} == call["error"]
    if "served" in call:
        assert isinstance(error, oddwire.NotOddwireError)
        assert re.search(f"http.*/v1/.*{error.status}", str(error))


@pytest.mark.parametrize("call", CALLS, ids=name_of)
def test_the_client(client: Client, call: dict[str, Any]) -> None:
    def ask(caller: Client = client) -> Any:
        answer = getattr(caller, name_of(call))(*call["arguments"], **call["query"])
        return list(answer) if isinstance(answer, Pages) else answer

    if "served" in call:
        with scripted_server(served(call)) as server, Client(server.url, "key", backoff=FAST) as other:
            with pytest.raises(oddwire.OddwireError) as caught:
                ask(other)
            check_error(call, caught.value)
            assert len(server.requests) == call["served"]["requests"]
    elif "error" in call:
        with pytest.raises(oddwire.OddwireError) as caught:
            ask()
        check_error(call, caught.value)
    else:
        check(call, ask())


def test_the_async_client(service: Service) -> None:
    async def ask(client: AsyncClient, call: dict[str, Any]) -> None:
        try:
            answer = getattr(client, name_of(call))(*call["arguments"], **call["query"])
            check(call, [row async for row in answer] if isinstance(answer, AsyncPages) else await answer)
        except oddwire.OddwireError as error:
            check_error(call, error)

    async def ask_all() -> None:
        async with AsyncClient(service.url, service.read_key, backoff=FAST) as client:
            for call in CALLS:
                if "served" not in call:
                    await ask(client, call)
                    continue
                with scripted_server(served(call)) as server:
                    async with AsyncClient(server.url, "key", backoff=FAST) as other:
                        await ask(other, call)
                    assert len(server.requests) == call["served"]["requests"]

    asyncio.run(ask_all())
