"""Follows the trades over a bad connection and restarts, until the last one. Prints the ids, and what came twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
from pathlib import Path
from typing import Any

from oddwire import AsyncClient, Backoff

#: One connection after the other, without the waits.
FAST = Backoff(attempts=3, first_wait=0.01, longest_wait=0.1)


async def follow(url: str, key: str, last: str, file: Path) -> dict[str, object]:
    """Return the ids of the trades in their order, and how often a trade came twice, a reorg and a restart."""
    chance = random.Random(5)
    rows: dict[str, int] = {}
    counts = {"repeated": 0, "reorgs": 0, "restarts": 0}
    while last not in rows:
        left = chance.randrange(1000, 9000)
        async with AsyncClient(url, key, backoff=FAST) as client:
            stream = client.stream({"type": "trades"}, resume_from=0, position_file=file)
            async for frame in stream:
                if frame["type"] == "event":
                    trade: Any = frame["data"]
                    counts["repeated"] += trade["id"] in rows
                    rows[trade["id"]] = trade["seq"]
                if frame["type"] == "reorg":
                    counts["reorgs"] += 1
                    rows = {trade_id: seq for trade_id, seq in rows.items() if seq <= (frame["rewind_to_seq"] or 0)}
                left -= 1
                if left <= 0 or last in rows:
                    stream.save()
                    break
        counts["restarts"] += 1
    return {"ids": list(rows), **counts}


if __name__ == "__main__":
    names = ("ODDWIRE_URL", "ODDWIRE_API_KEY", "LAST_ID", "POSITION_FILE")
    url, key, last, file = (os.environ[name] for name in names)
    print(json.dumps(asyncio.run(asyncio.wait_for(follow(url, key, last, Path(file)), 300))))
