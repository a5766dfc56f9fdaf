"""Finds every page and its twins, asks for them, and says how long each took."""

import http.client
import random
import re
import time
import urllib.parse
from collections import Counter, defaultdict
from html.parser import HTMLParser
from typing import Any

from served import HOST, TOKEN, Served

# Addresses of one kind that are asked for: more of them are made alike.
EACH_KIND = 4
TWIN = re.compile(r"\.(json|csv|md)(\?|$)")
NO_PAGES = ("/api/", "/metrics", "/healthz", "/style", "/assets/")


class Links(HTMLParser):
    """What a page leads to, its other forms among them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        address = values.get("href")
        if address and (tag == "a" or values.get("rel") == "alternate"):
            self.found.append(address)


class Client:
    """A reader with a token, on a connection that it keeps, who takes gzip as browsers do."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection(HOST, port, timeout=60)

    def get(self, path: str, encoding: str = "gzip") -> tuple[int, bytes, float]:
        """Status, body, and seconds until the last of its bytes was here."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": encoding}
        if self.connection.sock is None:
            self.connection.connect()
        begun = time.perf_counter()
        self.connection.request("GET", path, headers=headers)
        answer = self.connection.getresponse()
        body = answer.read()
        return answer.status, body, time.perf_counter() - begun

    def close(self) -> None:
        self.connection.close()


def kind_of(path: str) -> str:
    """What an address is without its numbers, dates and names: "/comparisons/*.md"."""
    bare = path.partition("?")[0]
    ending = TWIN.search(bare)
    first, _, rest = bare.lstrip("/").partition("/")
    if not rest:
        return f"/{first}" + ("?..." if "?" in path else "")
    stars = "/".join("*" for _ in rest.split("/"))
    return f"/{first}/{stars}{ending.group(0) if ending else ''}" + ("?..." if "?" in path else "")


def paths_of(served: Served) -> list[str]:
    """Every page that can be reached from the first one with its twins, a few of each kind."""
    client = Client(served.port)
    seen: Counter[str] = Counter()
    known, found, waiting = {"/"}, [], ["/"]
    while waiting:
        path = waiting.pop(0)
        if seen[kind_of(path)] >= EACH_KIND:
            continue
        status, body, _ = client.get(path, "identity")
        if status != 200:
            continue  # a table that is empty today has no form .csv
        seen[kind_of(path)] += 1
        found.append(path)
        if TWIN.search(path):
            continue
        for address in Links(body.decode()).found:
            target = urllib.parse.urljoin(path, address).partition("#")[0]
            is_ours = target.startswith("/") and not target.startswith(NO_PAGES)
            if is_ours and target not in known:
                known.add(target)
                waiting.append(target)
    client.close()
    return found


def visit(served: Served, paths: list[str], views: int, seed: int = 1) -> dict[str, list[float]]:
    """Asks for that many of the paths, each as often as another, in random order: the seconds by
    kind. Raises for an answer of another status than 200."""
    chosen = [paths[turn % len(paths)] for turn in range(views)]
    random.Random(seed).shuffle(chosen)
    client = Client(served.port)
    seconds: dict[str, list[float]] = defaultdict(list)
    for path in chosen:
        status, _, took = client.get(path)
        if status != 200:
            raise RuntimeError(f"{path}: status {status}")
        seconds[kind_of(path)].append(took)
    client.close()
    return seconds


def summary_of(seconds: list[float]) -> dict[str, Any]:
    ordered = sorted(seconds)
    return {
        "views": len(ordered),
        "median_ms": 1e3 * ordered[len(ordered) // 2],
        "p99_ms": 1e3 * ordered[int(0.99 * (len(ordered) - 1))],
        "max_ms": 1e3 * ordered[-1],
    }
