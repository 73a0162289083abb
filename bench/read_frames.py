"""Times a frame of pandas over Arrow against pages of JSON, and compares it with the CSV cell by cell."""

from __future__ import annotations

import csv
import io
import os
import resource
import sys
import time

import pandas as pd
from oddwire import Client


def main(rows: int) -> None:
    """Print the times, their ratio and the most memory that the frame took."""
    with Client(os.environ["ODDWIRE_URL"], os.environ["ODDWIRE_API_KEY"]) as client:
        # The rows of both are final, so that they are the same.
        query = {"status": "finalized", "order": "asc"}
        started = time.perf_counter()
        frame = client.trades(**query).to_pandas(decimals="scaled")[:rows]
        over_arrow = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        started = time.perf_counter()
        exact = client.trades(**query).to_pandas()[:rows]
        as_decimals = time.perf_counter() - started
        print(f"{len(frame)} trades over Arrow: {over_arrow:.1f} s, {as_decimals:.1f} s as Decimal, {peak:.0f} MB", flush=True)
        different = compare(client, query, exact)
        print(f"{different} cells differ from the CSV", flush=True)
        # A million rows as dictionaries take GB of their own.
        del frame, exact
        started = time.perf_counter()
        listed = []
        for row in client.trades(limit=1000, **query):
            listed.append(row)
            if len(listed) == rows:
                break
        pages = len(pd.DataFrame(listed))
        over_pages = time.perf_counter() - started
        print(f"{pages} trades over pages of JSON: {over_pages:.1f} s, {over_pages / over_arrow:.1f} times as long")


def compare(client: Client, query: dict[str, str], frame: pd.DataFrame) -> int:
    """Return how many cells of a frame differ from those of the CSV."""
    different = 0
    with client.trades(**query).file("csv") as file:
        lines = csv.reader(io.TextIOWrapper(file.body, newline=""))
        names = next(lines)
        if names != list(frame.columns):
            raise AssertionError(f"the columns are {names}")
        for cells, values in zip(lines, frame.itertuples(index=False, name=None), strict=False):
            for cell, value in zip(cells, values, strict=True):
                if cell != as_csv(value):
                    different += as_number(cell) != as_number(as_csv(value))
    return different


def as_csv(value: object) -> str:
    """Return a cell as the CSV has it."""
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, pd.Timestamp):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(value)


def as_number(cell: str) -> str:
    """Return a cell without the zeros at the end of its fraction."""
    return cell.rstrip("0").rstrip(".") if "." in cell else cell


if __name__ == "__main__":
    main(int(sys.argv[1]))
