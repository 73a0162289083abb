"""The errors of the client: one class for each thing that a program may want to handle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import ErrorAnswerErrorDetail


class OddwireError(Exception):
    """A request that failed, with the message of the service or the reason why it did not answer."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "UNREACHABLE",
        details: Sequence[ErrorAnswerErrorDetail] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        #: The HTTP status, or the close code of a stream; 0 if there is none.
        self.status = status
        #: The code of the service, ``UNREACHABLE``, or ``NOT_OURS``.
        self.code = code
        #: The invalid parameters, and what is wrong with each.
        self.details = list(details)
        #: The id of the request, which the service logs too; ``None`` without an answer.
        self.request_id = request_id
        #: Seconds to wait before a retry, if the service named them.
        self.retry_after = retry_after

    def __str__(self) -> str:
        request = "" if self.request_id is None else f" (request {self.request_id})"
        return f"{self.code}: {self.args[0]}{request}"


class InvalidRequestError(OddwireError):
    """A parameter or cursor is invalid; ``details`` names it."""


class AuthenticationError(OddwireError):
    """The key is missing, malformed, unknown, expired or revoked."""


class ForbiddenError(OddwireError):
    """The scope of the key is too low."""


class IpBlockedError(OddwireError):
    """The service has blocked this address; ``retry_after`` says for how long, if the block ends."""


class NotFoundError(OddwireError):
    """The service has no such path, id or token."""


class RateLimitedError(OddwireError):
    """Too many requests, also after the retries."""


class ServiceUnavailableError(OddwireError):
    """The service cannot answer now, also after the retries."""


class UnreachableError(OddwireError):
    """Nothing answered at the URL, or the connection broke within the answer."""


class NotOddwireError(OddwireError):
    """Something answered that is not this service, such as a proxy."""


_CLASSES: dict[str, type[OddwireError]] = {
    "VALIDATION_ERROR": InvalidRequestError,
    "INVALID_CURSOR": InvalidRequestError,
    "UNAUTHORIZED": AuthenticationError,
    "FORBIDDEN": ForbiddenError,
    "IP_BLOCKED": IpBlockedError,
    "NOT_FOUND": NotFoundError,
    "RATE_LIMITED": RateLimitedError,
    "SERVICE_UNAVAILABLE": ServiceUnavailableError,
    "INTERNAL_ERROR": ServiceUnavailableError,
    "UNREACHABLE": UnreachableError,
    "NOT_OURS": NotOddwireError,
}


def error_class(code: str) -> type[OddwireError]:
    """Return the class of the errors with a code; ``OddwireError`` for codes without a class."""
    return _CLASSES.get(code, OddwireError)
