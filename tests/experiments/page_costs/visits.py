"""Finds every page and its twins, asks for them, and says how long each took."""

import http.client
import json
import math
import random
import re
import time
import urllib.parse
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from served import HOST, TOKEN, Served

# Pages that people come to by an address, or that nothing need lead to.
BEGINNINGS = ("/", "/mutes", "/mutes/1", "/requests/1", "/search?q=cuda", "/series", "/sign-in")
ROUTES = Path(__file__).resolve().parents[3] / "service" / "pages" / "src" / "routes.cpp"
# A nightly's is the page of its comparison at another address.
SAME_PAGES = {"/nightlies/*"}
# Addresses of one kind that are asked for: more of them are made alike.
EACH_KIND = 4
TWIN = re.compile(r"\.(json|csv|md)(\?|$)")
FILES = (".gz", ".svg")
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


def kind_of_page(path: str) -> str:
    """The same without options."""
    return kind_of(path).removesuffix("?...")


def kinds_of_pages() -> set[str]:
    """The kind of each page that the service has, as its routes say."""
    paths = re.findall(r'Entry(?: kOverview)?\{"(/[^"]*)"', ROUTES.read_text())
    return {kind_of(re.sub(r"\{.*?\}", "1", path)) for path in paths} - SAME_PAGES


def targets_of(path: str, body: bytes) -> list[str]:
    """Pages and twins of this service that a page leads to."""
    targets = [
        urllib.parse.urljoin(path, address).partition("#")[0]
        for address in Links(body.decode()).found
    ]
    return [each for each in targets if each.startswith("/") and not each.startswith(NO_PAGES)]


def pair_of_newest(client: Client) -> str:
    """The page that compares the builds of the newest nightly."""
    _, text, _ = client.get("/api/v1/comparisons?purpose=nightly&limit=1", "identity")
    newest = json.loads(text)["comparisons"][0]
    return f"/compare/{newest['baseline']['name']}...{newest['candidate']['name']}"


def paths_of(served: Served) -> list[str]:
    """Every page of the service with its twins, a few of each kind. Raises where one is not
    answered with 200 or a kind of page is not among them."""
    client = Client(served.port)
    seen: Counter[str] = Counter()
    waiting = [*BEGINNINGS, pair_of_newest(client)]
    known, found = set(waiting), []
    while waiting:
        path = waiting.pop(0)
        if seen[kind_of(path)] >= EACH_KIND:
            continue
        status, body, _ = client.get(path, "identity")
        if status != 200:
            raise RuntimeError(f"{path}: status {status}")
        seen[kind_of(path)] += 1
        found.append(path)
        if TWIN.search(path) or path.endswith(FILES):
            continue
        for target in targets_of(path, body):
            if target not in known:
                known.add(target)
                waiting.append(target)
    client.close()
    missing = kinds_of_pages() - {kind_of_page(path) for path in found}
    if missing:
        raise RuntimeError(f"no page of these kinds was found: {', '.join(sorted(missing))}")
    return found


@dataclass
class Visits:
    """What the pages of one kind took."""

    seconds: list[float] = field(default_factory=list)
    bytes_max: int = 0  # the largest answer as it was sent, compressed


def visit(served: Served, paths: list[str], views: int, seed: int = 1) -> dict[str, Visits]:
    """Asks for that many of the paths, each as often as another, in random order: what they took by
    kind. Raises for an answer of another status than 200."""
    chosen = [paths[turn % len(paths)] for turn in range(views)]
    random.Random(seed).shuffle(chosen)
    client = Client(served.port)
    kinds: dict[str, Visits] = defaultdict(Visits)
    for path in chosen:
        status, body, took = client.get(path)
        if status != 200:
            raise RuntimeError(f"{path}: status {status}")
        of_kind = kinds[kind_of(path)]
        of_kind.seconds.append(took)
        of_kind.bytes_max = max(of_kind.bytes_max, len(body))
    client.close()
    return kinds


def summary_of(seconds: list[float]) -> dict[str, Any]:
    ordered = sorted(seconds)
    return {
        "views": len(ordered),
        "median_ms": 1e3 * ordered[len(ordered) // 2],
        "p99_ms": 1e3 * ordered[math.ceil(0.99 * len(ordered)) - 1],
        "max_ms": 1e3 * ordered[-1],
    }
