"""The judge of HTTP exchanges: what it lets pass, and what not."""

import json
import unittest
from typing import Any

from described_exchanges import Description

NUMBER = {"type": "integer", "minimum": 1}
THING = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"$ref": "#/components/schemas/Number"},
        "note": {"type": "string", "nullable": True, "maxLength": 3},
        "kind": {"enum": ["a", "b"]},
    },
}
JSON = "application/json"
DOCUMENT: dict[str, Any] = {
    "paths": {
        "/things": {
            "get": {
                "parameters": [
                    {"name": "page", "in": "query", "schema": NUMBER},
                    {"name": "of", "in": "query", "required": True, "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {"content": {JSON: {"schema": {"type": "array", "items": THING}}}},
                    "default": {"content": {"text/html": {}}},
                },
            },
            "post": {
                "requestBody": {"required": True, "content": {JSON: {"schema": THING}}},
                "responses": {"204": {}},
            },
        },
        "/things/{id}": {
            "parameters": [{"name": "id", "in": "path", "schema": NUMBER}],
            "get": {"responses": {"200": {}}},
        },
        "/things/newest": {"get": {"responses": {"200": {"content": {"text/html": {}}}}}},
    },
    "components": {"schemas": {"Number": NUMBER}},
}


def request(method: str, path: str, **more: object) -> dict[str, Any]:
    return {"method": method, "path": path, "query": [], "content_type": "", "body": "", **more}


def response(status: int, content_type: str = "", body: str = "") -> dict[str, Any]:
    return {"status": status, "content_type": content_type, "body": body}


class Judge(unittest.TestCase):
    def judge(
        self, sent: dict[str, Any], answer: dict[str, Any] | None = None, *, only: bool = False
    ) -> list[str]:
        exchange = {"request": sent, "response": answer}
        return Description(DOCUMENT).violations(exchange, is_described_only=only)

    def assert_one(self, violations: list[str], part: str) -> None:
        self.assertEqual(len(violations), 1, violations)
        self.assertIn(part, violations[0])

    def get(self, *query: list[str]) -> dict[str, Any]:
        return request("GET", "/things", query=[["of", "x"], *query])

    def post(self, body: object, content_type: str = JSON) -> dict[str, Any]:
        return request("POST", "/things", body=json.dumps(body), content_type=content_type)


class Requests(Judge):
    def test_what_is_described_passes(self) -> None:
        self.assertEqual(self.judge(self.get(["page", "2"])), [])
        self.assertEqual(self.judge(self.post({"id": 1, "note": None, "kind": "a"})), [])
        self.assertEqual(self.judge(request("GET", "/things/7")), [])

    def test_an_unknown_path_or_method_is_a_violation_unless_it_is_left_out(self) -> None:
        for sent in (request("GET", "/nothing"), request("PATCH", "/things")):
            self.assert_one(self.judge(sent), "is not described")
            self.assertEqual(self.judge(sent, only=True), [])

    def test_query_parameters_are_known_typed_and_complete(self) -> None:
        self.assert_one(self.judge(self.get(["size", "2"])), '"size" is not described')
        self.assert_one(self.judge(self.get(["page", "two"])), "not of the type integer")
        self.assert_one(self.judge(self.get(["page", "0"])), "less than the minimum")
        self.assert_one(self.judge(request("GET", "/things")), '"of" is missing')

    def test_a_part_of_the_path_has_its_type(self) -> None:
        self.assert_one(self.judge(request("GET", "/things/oldest")), "path {id}")

    def test_the_template_with_more_literal_parts_is_the_one(self) -> None:
        self.assertEqual(self.judge(request("GET", "/things/newest")), [])

    def test_another_form_of_a_page_is_of_no_template(self) -> None:
        for ending in (".md", ".csv", ".json"):
            sent = request("GET", f"/things/newest{ending}")
            self.assert_one(self.judge(sent), "is not described")
            self.assertEqual(self.judge(sent, only=True), [])
        self.assert_one(self.judge(request("GET", "/things/oldest.md"), only=True), "path {id}")

    def test_a_body_is_there_where_it_is_described_and_only_there(self) -> None:
        self.assert_one(self.judge(request("POST", "/things")), "the body is missing")
        self.assert_one(self.judge(request("GET", "/things/7", body="{}")), "none is described")
        self.assert_one(self.judge(self.post({"id": 1}, "text/plain")), "content type")
        cut = request("POST", "/things", body="{", content_type=JSON)
        self.assert_one(self.judge(cut), "no JSON")

    def test_a_body_fits_its_schema(self) -> None:
        for body, part in (
            ({}, "'id' is a required property"),
            ({"id": 0}, "/id: 0 is less than the minimum"),
            ({"id": "1"}, "/id: '1' is not of type"),
            ({"id": None}, "/id: None is not of type"),
            ({"id": 1, "note": "long"}, "/note: 'long' is too long"),
            ({"id": 1, "kind": "c"}, "/kind: 'c' is not one of"),
            ({"id": 1, "size": 2}, "'size' was unexpected"),
        ):
            self.assert_one(self.judge(self.post(body)), part)


class Answers(Judge):
    def test_what_is_described_passes(self) -> None:
        self.assertEqual(self.judge(self.get(), response(200, JSON, '[{"id": 1}]')), [])
        self.assertEqual(self.judge(self.get(), response(500, "text/html", "<p>")), [])
        self.assertEqual(self.judge(self.post({"id": 1}), response(204)), [])

    def test_a_status_is_described(self) -> None:
        self.assert_one(self.judge(self.post({"id": 1}), response(200)), "status is not described")

    def test_a_body_has_a_described_type_and_fits_its_schema(self) -> None:
        self.assert_one(self.judge(self.get(), response(200, "text/css", "")), "content type")
        self.assert_one(self.judge(self.get(), response(200, JSON, "[")), "no JSON")
        self.assert_one(self.judge(self.get(), response(200, JSON, '[{"id": 0}]')), "/0/id")
        self.assert_one(self.judge(self.post({"id": 1}), response(204, JSON, "{}")), "has a body")

    def test_a_request_that_was_refused_may_be_anything(self) -> None:
        refused = response(400, "text/html", "<p>")
        self.assertEqual(self.judge(self.get(["size", "2"]), refused), [])
        accepted = response(200, JSON, "[]")
        self.assert_one(self.judge(self.get(["size", "2"]), accepted), "not described")


if __name__ == "__main__":
    unittest.main()
