"""When to repeat a request, and after which wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Backoff:
    """The number of attempts, and the waits between them in seconds. The defaults are those the service recommends."""

    attempts: int = 3
    first_wait: float = 1.0
    longest_wait: float = 60.0

    def wait_after(self, attempt: int, retry_after: float | None) -> float | None:
        """
        Return the seconds to wait after a failed attempt, counted from 1: the doubled wait, or ``Retry-After`` if that
        is longer. ``None`` if no retry is useful: after the last attempt, or if the service wants a longer wait.
        """
        requested = retry_after or 0.0
        if attempt >= self.attempts or requested > self.longest_wait:
            return None
        return max(self.doubled(attempt), requested)

    def doubled(self, failures: int) -> float:
        """Return the wait after a number of failures in a row, at least 1."""
        return min(self.first_wait * 2.0 ** min(failures - 1, 32), self.longest_wait)
