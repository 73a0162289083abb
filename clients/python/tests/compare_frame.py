"""Compares the frame of all trades with their CSV, cell by cell. Prints how many rows they have."""

from __future__ import annotations

import csv
import io
import os

from oddwire import Client
from test_lists import as_csv, normal


def main(client: Client) -> int:
    """Return the number of rows."""
    frame = client.trades().to_pandas()
    with client.trades().file("csv") as file:
        names, *rows = csv.reader(io.TextIOWrapper(file.body, newline=""))
    assert list(frame.columns) == names
    assert len(frame) == len(rows)
    for name, *cells in zip(names, *rows, strict=True):
        assert [as_csv(value) for value in frame[name]] == [normal(cell) for cell in cells], name
    return len(rows)


if __name__ == "__main__":
    with Client(os.environ["ODDWIRE_URL"], os.environ["ODDWIRE_API_KEY"]) as client:
        print(main(client))
