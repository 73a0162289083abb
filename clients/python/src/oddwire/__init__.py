"""The client of Oddwire, the self-hosted data service for prediction markets: ``Client`` and ``AsyncClient``."""

from .backoff import Backoff
from .client import AsyncClient, Client
from .errors import (
    AuthenticationError,
    ForbiddenError,
    InvalidRequestError,
    IpBlockedError,
    NotFoundError,
    NotOddwireError,
    OddwireError,
    RateLimitedError,
    ServiceUnavailableError,
    UnreachableError,
)
from .list_file import ListFile
from .local_book import Level, LocalBook
from .pages import AsyncPages, Page, Pages
from .stream import RowSet, Stream

__all__ = [
    "AsyncClient",
    "AsyncPages",
    "AuthenticationError",
    "Backoff",
    "Client",
    "ForbiddenError",
    "InvalidRequestError",
    "IpBlockedError",
    "Level",
    "ListFile",
    "LocalBook",
    "NotFoundError",
    "NotOddwireError",
    "OddwireError",
    "Page",
    "Pages",
    "RateLimitedError",
    "RowSet",
    "ServiceUnavailableError",
    "Stream",
    "UnreachableError",
]
