#!/usr/bin/env python3
"""Judges HTTP exchanges by an OpenAPI 3.0 description, and prints a line for each violation.

    described_exchanges.py DESCRIPTION EXCHANGES [--described-only]

EXCHANGES has an exchange a line, as JSON: {"request": {"method", "path", "query", "content_type",
"body"}, "response": {"status", "content_type", "body"} or null}; "query" is a list of [name, text].
A request that was answered by an error may be anything, its answer may not. With --described-only
an exchange of a path that DESCRIPTION lacks is not a violation.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator, RefResolver, validators

METHODS = ("get", "put", "post", "delete", "patch")
TWINS = (".md", ".csv", ".json")  # endings of the other forms of a page
FIRST_ERROR = 300

Check = Callable[[Any, Any, Any, dict[str, Any]], Any]


def _unless_null(check: Check) -> Check:
    """OpenAPI 3.0 says of a schema that its value may be null beside all that it demands."""

    def nullable(
        validator: Any, value: Any, instance: Any, schema: dict[str, Any]
    ) -> Iterator[Any]:
        if instance is not None or schema.get("nullable") is not True:
            yield from check(validator, value, instance, schema) or ()

    return nullable


# OpenAPI 3.0 has the schemas of JSON Schema's fourth draft, but for null.
SchemaValidator = validators.extend(
    Draft4Validator,
    {keyword: _unless_null(check) for keyword, check in Draft4Validator.VALIDATORS.items()},
)


def _parts(path: str) -> list[str]:
    return path.removeprefix("/").split("/")


def _literals(template: str, path: str) -> int | None:
    """How many literal parts of the template fit the path; None when it does not fit."""
    if len(_parts(template)) != len(_parts(path)):
        return None
    pairs = list(zip(_parts(template), _parts(path), strict=True))
    if not all(part if wanted.startswith("{") else wanted == part for wanted, part in pairs):
        return None
    return sum(not wanted.startswith("{") for wanted, _ in pairs)


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0]


@dataclass
class Operation:
    template: str
    node: dict[str, Any]
    parameters: list[dict[str, Any]]


class Description:
    """An OpenAPI 3.0 description."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._resolver = RefResolver.from_schema(document)

    def violations(self, exchange: dict[str, Any], *, is_described_only: bool) -> list[str]:
        """What of an exchange the description does not allow."""
        request, response = exchange["request"], exchange["response"]
        what = f"{request['method']} {request['path']}"
        operation = self._find(request["method"], request["path"])
        if operation is None:
            return [] if is_described_only else [f"{what}: is not described"]
        found: list[str] = []
        if response is not None:
            status = response["status"]
            found += [f"{what} -> {status}: {text}" for text in self._answer(operation, response)]
        if response is None or response["status"] < FIRST_ERROR:
            found += [f"{what}: {text}" for text in self._request(operation, request)]
        return found

    def _resolved(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            _, node = self._resolver.resolve(node["$ref"])
        return node

    def _find(self, method: str, path: str) -> Operation | None:
        """The operation a request is for; of several templates the one with more literal parts."""
        wanted = "get" if method == "HEAD" else method.lower()
        # No template is meant by the twin of a page without parameters: "/machines/compare.md".
        if path not in self._document["paths"] and path.endswith(TWINS):
            page = path.rpartition(".")[0]
            if page in self._document["paths"]:
                return None
        fitting = [
            (literals, template)
            for template, node in self._document["paths"].items()
            if wanted in node and (literals := _literals(template, path)) is not None
        ]
        if not fitting:
            return None
        template = max(fitting)[1]
        shared = self._document["paths"][template]
        node = shared[wanted]
        parameters = [*shared.get("parameters", []), *node.get("parameters", [])]
        return Operation(template, node, [self._resolved(each) for each in parameters])

    def _schema(self, schema: dict[str, Any], value: Any) -> Iterator[str]:
        validator = SchemaValidator(self._resolved(schema), resolver=self._resolver)
        for error in validator.iter_errors(value):
            place = "".join(f"/{part}" for part in error.absolute_path) or "the value"
            yield f"{place}: {error.message}"

    def _text(self, schema: dict[str, Any], text: str) -> Iterator[str]:
        """The violations of a parameter's text, which is JSON unless its schema is a string."""
        schema = self._resolved(schema)
        if schema.get("type", "string") not in ("integer", "number", "boolean"):
            yield from self._schema(schema, text)
            return
        try:
            yield from self._schema(schema, json.loads(text))
        except ValueError:
            yield f"{text!r} is not of the type {schema['type']}"

    def _request(self, operation: Operation, request: dict[str, Any]) -> Iterator[str]:
        yield from self._path(operation, request["path"])
        yield from self._query(operation, request["query"])
        yield from self._body_sent(operation, request)

    def _path(self, operation: Operation, path: str) -> Iterator[str]:
        values = dict(zip(_parts(operation.template), _parts(path), strict=True))
        for parameter in operation.parameters:
            if parameter["in"] == "path":
                placeholder = "{" + parameter["name"] + "}"
                for text in self._text(parameter["schema"], values[placeholder]):
                    yield f"path {placeholder} {text}"

    def _query(self, operation: Operation, query: list[list[str]]) -> Iterator[str]:
        known = {each["name"]: each for each in operation.parameters if each["in"] == "query"}
        for name, value in query:
            if name not in known:
                yield f'query parameter "{name}" is not described'
                continue
            for text in self._text(known[name]["schema"], value):
                yield f"query {name} {text}"
        for name, parameter in known.items():
            if parameter.get("required") and name not in dict(query):
                yield f'query parameter "{name}" is missing'

    def _body_sent(self, operation: Operation, request: dict[str, Any]) -> Iterator[str]:
        if "requestBody" not in operation.node:
            if request["body"]:
                yield "a body is sent where none is described"
            return
        described = self._resolved(operation.node["requestBody"])
        if request["body"]:
            yield from self._content(described["content"], request)
        elif described.get("required"):
            yield "the body is missing"

    def _answer(self, operation: Operation, response: dict[str, Any]) -> Iterator[str]:
        responses = operation.node["responses"]
        described = responses.get(str(response["status"]), responses.get("default"))
        if described is None:
            yield "the status is not described"
            return
        content = self._resolved(described).get("content", {})
        if content:
            yield from self._content(content, response)
        elif response["body"]:
            yield "has a body"

    def _content(self, content: dict[str, Any], message: dict[str, Any]) -> Iterator[str]:
        """A body, of one of the described types. Only that of JSON is looked into."""
        media_type = _media_type(message["content_type"])
        if media_type not in content:
            yield f'content type "{media_type}" is not described'
            return
        if not media_type.endswith("json"):
            return
        try:
            body = json.loads(message["body"])
        except ValueError:
            yield "the body is no JSON"
            return
        for text in self._schema(content[media_type]["schema"], body):
            yield f"body {text}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("description", type=Path)
    parser.add_argument("exchanges", type=Path)
    parser.add_argument("--described-only", action="store_true")
    options = parser.parse_args()
    description = Description(json.loads(options.description.read_text(encoding="utf-8")))
    for line in options.exchanges.read_text(encoding="utf-8").splitlines():
        for violation in description.violations(
            json.loads(line), is_described_only=options.described_only
        ):
            print(violation)


if __name__ == "__main__":
    main()
