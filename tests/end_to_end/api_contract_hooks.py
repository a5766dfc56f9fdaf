"""Gives each request of schemathesis an address of its own, as a proxy in front does."""

import ipaddress
import itertools
from typing import Any

import requests

ADDRESSES = itertools.count(int(ipaddress.ip_address("10.0.0.1")))


class Proxy(requests.Session):
    """Not a hook of schemathesis: its checks would take the header for a part of the case."""

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        # schemathesis tries wrong tokens; after five of one address the daemon answers with 429.
        request.headers["X-Forwarded-For"] = str(ipaddress.ip_address(next(ADDRESSES)))
        return super().send(request, **kwargs)


requests.Session = requests.sessions.Session = Proxy  # type: ignore[misc]
