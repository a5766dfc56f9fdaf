"""The check of lint_text.py for classes of C++: how many functions each declares."""

import re
from collections.abc import Iterator

from lint_file import File, Finding

CLASS_FUNCTIONS_MAX = 20

# What may hold brackets that are none: a number is kept, as its ' begins no character.
TOKEN = re.compile(
    r"""(?P<number> \b[0-9](?:'?[\w.])* )
    | (?P<literal> R"(?P<end>[^()\s\\]*)\(.*?\)(?P=end)"
                 | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+' )
    | //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|\balignas\s*\([^()]*\)")
OPERATOR = re.compile(r"\boperator\s*\(\s*\)|\boperator\b[^(){};]*(?=\()")
CLASS = re.compile(
    r"(?<!\benum )\b(?:class|struct|union)\b\s*(?P<name>[\w:]*)\s*(?:<[^;{}]*>)?\s*"
    r"(?:\bfinal\b\s*)?(?::(?!:)[^;{]*)?\{"
)
BRACKET = re.compile(r"[(){}\[\]]")

# The next are for a class's own text, in which brackets are empty.
TEMPLATE = re.compile(r"<[^<>;]*>")
CONDITION = re.compile(r"(?:\b(?:noexcept|explicit|requires|__attribute__)|&&|\|\|)\s*\(\)")
ACCESS = re.compile(r"\b(?:public|protected|private)\s*:")
# A function's body ends a statement; an initialiser's braces are followed by more of it.
END = re.compile(r";|\{\}(?!\s*[,;{.)])")
MACRO = re.compile(r"[A-Z][A-Z0-9_]+")
# `type name()`, the type missing for a constructor. `int (*name)()` and `int (&name)[]` are data.
FUNCTION = re.compile(
    rf"\s*(?:{MACRO.pattern}\s*\(\)\s*)*(?P<type>(?:\w[\w\s*&|!.]*?)?)\s*"
    r"(?P<name>~?\b\w+)\s*\(\)(?!\s*[(\[])"
)
NO_MEMBER = {"friend", "using", "typedef"}


def bare(found: re.Match[str]) -> str:
    """What stands in the code for a token: nothing of a comment but its lines."""
    if found["number"]:
        return found.group()
    return ('""' if found["literal"] else " ") + "\n" * found.group().count("\n")


def code_of(text: str) -> str:
    """The code without comments, texts, directives and attributes, in the same lines; an operator
    is called `operator_`."""
    code = TOKEN.sub(bare, text)
    code = ATTRIBUTE.sub(lambda found: "\n" * found.group().count("\n"), code)
    return OPERATOR.sub("operator_", code)


def own_text(code: str, begin: int) -> str:
    """The body of a class that begins there, with nothing in its brackets."""
    parts, depth, last = [], 1, begin
    for bracket in BRACKET.finditer(code, begin):
        opens = bracket.group() in "([{"
        if depth == 1:
            parts.append(code[last : bracket.start()])
        depth += 1 if opens else -1
        if depth == 0:
            break
        if depth == (2 if opens else 1):
            parts.append(bracket.group())
        last = bracket.end()
    return "".join(parts)


def statements(own: str) -> list[str]:
    own = own.replace("->", "@").replace("::", "__")
    while (shorter := TEMPLATE.sub("", own)) != own:
        own = shorter
    own = re.sub(r"\bdecltype\s*\(\)", "decltype", CONDITION.sub("", own))
    return END.split(ACCESS.sub("", own))


def declares_function(statement: str, of_class: str) -> bool:
    """Whether it declares a member function or a constructor that is not defaulted or deleted."""
    declared, _, value = statement.partition("=")
    found = FUNCTION.match(declared)
    if not found or value.strip() in ("default", "delete") or NO_MEMBER & {*found["type"].split()}:
        return False
    name = found["name"]
    is_typed = found["type"] != "" and not MACRO.fullmatch(name)
    return is_typed or name in (of_class, f"~{of_class}", "operator_")


def function_counts(text: str) -> Iterator[tuple[int, str, int]]:
    """The line, the name and the number of functions of each class, nested and local ones too."""
    code = code_of(text)
    for found in CLASS.finditer(code):
        name = found["name"].rpartition("::")[2]
        own = statements(own_text(code, found.end()))
        count = sum(declares_function(statement, name) for statement in own)
        yield code.count("\n", 0, found.start()) + 1, name or "without a name", count


def classes(file: File) -> Iterator[Finding]:
    if not file.path.endswith((".cpp", ".hpp")):
        return
    for line, name, count in function_counts(file.text):
        if count > CLASS_FUNCTIONS_MAX:
            text = f"class {name} has {count} functions, split it ({CLASS_FUNCTIONS_MAX} at most)"
            yield Finding(line, "size", text)


CHECKS = (classes,)
