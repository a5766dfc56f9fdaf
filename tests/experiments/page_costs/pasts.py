"""How long the past of one series takes, of which there may be decades."""

import json
from typing import Any

import visits
from served import Served

ASKED = 200


def first_series(client: visits.Client) -> str:
    """The path of its page."""
    _, listed, _ = client.get("/api/v1/series?limit=1", "identity")
    return str(json.loads(listed)["series"][0]["url"]).removeprefix("/api/v1")


def first_pasts(client: visits.Client, but: str) -> dict[str, Any]:
    """The whole past of each series but one, asked for once: nothing of it is known."""
    _, listed, _ = client.get("/api/v1/series?limit=200", "identity")
    paths = [str(each["url"]) + "/past" for each in json.loads(listed)["series"]]
    return visits.summary_of([client.get(path)[2] for path in paths if path != but])


def figures_of_history(served: Served) -> dict[str, Any]:
    """The page of one series with all that it shows, its whole past by columns, and its newest
    values for programs."""
    client = visits.Client(served.port)
    series = first_series(client)
    found = {}
    paths = {
        "page": series,
        "past": f"/api/v1{series}/past",
        "newest": f"{series}.json?limit=200",
    }
    for name, path in paths.items():
        status, body, _ = client.get(path)
        if status != 200:
            raise RuntimeError(f"{path}: status {status}")
        seconds = [client.get(path)[2] for _ in range(ASKED)]
        found[name] = visits.summary_of(seconds) | {"bytes": len(body)}
    found["first"] = first_pasts(client, but=paths["past"])
    _, whole, _ = client.get(paths["past"], "identity")
    found["past"]["points"] = len(json.loads(whole)["value"])
    client.close()
    return found
