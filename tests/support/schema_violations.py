"""Prints what of a JSON document a schema of docs/schemas does not allow, one violation a line.

Usage: schema_violations.py SCHEMA DOCUMENT
"""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator, RefResolver


def main() -> None:
    schema_file, document_file = (Path(argument) for argument in sys.argv[1:])
    schemas = {
        file.name: json.loads(file.read_text(encoding="utf-8"))
        for file in schema_file.parent.glob("*.json")
    }
    schema = schemas[schema_file.name]
    Draft202012Validator.check_schema(schema)
    resolver = RefResolver(schema_file.name, schema, store=schemas)
    document = json.loads(document_file.read_text(encoding="utf-8"))
    for error in Draft202012Validator(schema, resolver=resolver).iter_errors(document):
        place = "".join(f"/{part}" for part in error.absolute_path) or "the document"
        print(f"{place}: {error.message}")


if __name__ == "__main__":
    main()
