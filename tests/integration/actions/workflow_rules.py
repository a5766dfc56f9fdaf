"""What a workflow or an action of this repository must hold. A parsed YAML document goes in, faults
come out, each as one sentence."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
OWN = re.compile(r"\./[\w./-]+")
DIGEST = re.compile(r"\S+@sha256:[0-9a-f]{64}")
VERSION_BESIDE = re.compile(r"uses: \S+@[0-9a-f]{40} # v\d")
GRANTED = {"contents": "read", "id-token": "write"}  # the most that a job may be given
EXPRESSION = "${{"
Faults = Iterator[str]


class Loader(yaml.SafeLoader):
    """Takes `on` for a word, as GitHub does, and refuses a key that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"the key {key} stands twice")
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for letter, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def parse(text: str) -> dict[str, Any]:
    """Errors: yaml.YAMLError."""
    document = yaml.load(text, Loader)  # noqa: S506 a SafeLoader
    if not isinstance(document, dict):
        raise yaml.YAMLError("it must be a mapping")
    return document


def steps_of(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in document.get("jobs", {}).values():
        yield from job.get("steps", [])
    yield from document.get("runs", {}).get("steps", [])


def own_words(document: dict[str, Any]) -> set[str]:
    """The expressions whose values stand in the workflow itself: words of a matrix."""
    return {
        f"${{{{ matrix.{name} }}}}"
        for job in document.get("jobs", {}).values()
        for name, words in job.get("strategy", {}).get("matrix", {}).items()
        if isinstance(words, list) and EXPRESSION not in str(words)
    }


def faults_of_steps(document: dict[str, Any], checkout: Path) -> Faults:
    for step in steps_of(document):
        name = step.get("name", "a step")
        if "name" not in step:
            yield "a step has no name"
        expressions = re.findall(r"\$\{\{.*?\}\}", step.get("run", ""), re.DOTALL)
        if set(expressions) - own_words(document):
            yield f"{name}: an expression in run: give it by env"
        uses = step.get("uses", "")
        if uses and OWN.fullmatch(uses):
            if not (checkout / uses / "action.yml").exists():
                yield f"{name}: {uses} does not exist"
        elif uses and not PINNED.fullmatch(uses):
            yield f"{name}: {uses} is not pinned by a commit's full sha"
        keeps = step.get("with", {}).get("persist-credentials") is not False
        if uses.startswith("actions/checkout@") and keeps:
            yield f"{name}: the checkout keeps its credentials"


def faults_of_jobs(document: dict[str, Any]) -> Faults:
    """What a job as a whole runs is pinned, too, and gets no secret that it does not name."""
    for name, job in document.get("jobs", {}).items():
        uses = job.get("uses", "")
        if uses and not (OWN.fullmatch(uses) or PINNED.fullmatch(uses)):
            yield f"job {name}: {uses} is not pinned by a commit's full sha"
        if job.get("secrets") == "inherit":
            yield f"job {name} hands on all secrets"
        for container in [job.get("container"), *(job.get("services") or {}).values()]:
            image = container.get("image", "") if isinstance(container, dict) else container
            if image and not DIGEST.fullmatch(image):
                yield f"job {name}: image {image} is not pinned by its digest"


def faults_of_inputs(document: dict[str, Any]) -> Faults:
    on = document.get("on", {})
    on = on if isinstance(on, dict) else {}
    places = [document, *(part for part in on.values() if isinstance(part, dict))]
    for place in places:
        for kind in ("inputs", "outputs", "secrets"):
            for name, facts in (place.get(kind) or {}).items():
                if not (facts or {}).get("description"):
                    yield f"{kind} {name}: no description"


def faults_of_given(document: dict[str, Any], checkout: Path) -> Faults:
    """A step gives an action of this repository what that knows, and all that it needs."""
    for step in steps_of(document):
        if not OWN.fullmatch(step.get("uses", "")):
            continue
        file = checkout / step["uses"] / "action.yml"
        known = parse(file.read_text())["inputs"] if file.exists() else {}
        given = step.get("with", {})
        for name in given.keys() - known.keys():
            yield f"{step['uses']} has no input {name}"
        for name, facts in known.items():
            if facts.get("required") and name not in given:
                yield f"{step['uses']} needs the input {name}"


def faults_of_permissions(document: dict[str, Any]) -> Faults:
    """Nothing for the workflow as a whole but, at most, reading; each job says what it needs."""
    whole = document.get("permissions")
    if whole not in ({}, {"contents": "read"}):
        yield f"permissions of the workflow are {whole}: must be {{}} or contents: read"
    for name, job in document.get("jobs", {}).items():
        granted = job.get("permissions", {})
        if not isinstance(granted, dict):
            yield f"job {name} has the permissions {granted}"
            continue
        for permission, level in granted.items():
            if GRANTED.get(permission) != level:
                yield f"job {name} has {permission}: {level}"


def faults_of_workflow(text: str, checkout: Path) -> list[str]:
    try:
        document = parse(text)
    except yaml.YAMLError as error:
        return [f"it is no YAML: {error}"]
    faults = [
        *faults_of_steps(document, checkout),
        *faults_of_jobs(document),
        *faults_of_inputs(document),
        *faults_of_given(document, checkout),
        *faults_of_permissions(document),
    ]
    on = document.get("on", {})
    if not isinstance(on, dict):
        faults.append("on must be a mapping")
    elif "pull_request_target" in on:
        faults.append("pull_request_target runs strangers' code with this repository's rights")
    if "concurrency" not in document:
        faults.append("no concurrency: two runs at once")
    for name, job in document.get("jobs", {}).items():
        if "timeout-minutes" not in job:
            faults.append(f"job {name} has no timeout-minutes")
        if "latest" in str(job.get("runs-on", "latest")):
            faults.append(f"job {name} runs on a machine that changes")
    return faults + [
        f"no version beside the sha: {line.strip()}"
        for line in text.splitlines()
        if re.search(r"uses: \S+@", line) and not VERSION_BESIDE.search(line)
    ]


def faults_of_action(text: str, folder: Path, checkout: Path) -> list[str]:
    try:
        document = parse(text)
    except yaml.YAMLError as error:
        return [f"it is no YAML: {error}"]
    faults = [*faults_of_steps(document, checkout), *faults_of_inputs(document)]
    faults += [f"no {member}" for member in ("name", "description") if not document.get(member)]
    if document.get("runs", {}).get("using") != "composite":
        faults.append("it must be a composite action")
    for step in steps_of(document):
        if "run" in step and "shell" not in step:
            faults.append(f"{step.get('name')}: no shell")
        scripts = re.findall(r"\$GITHUB_ACTION_PATH/([\w.-]+)", step.get("run", ""))
        missing = [script for script in scripts if not (folder / script).exists()]
        faults += [f"{script} does not exist" for script in missing]
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    faults += [f"input {name} is not used" for name in document.get("inputs", {}).keys() - used]
    return faults
