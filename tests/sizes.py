"""Sizes and names of the code base, a line each: `python tests/sizes.py`.

Code lines are lines with a token that is neither a comment nor part of a docstring.
"""

import ast
import io
import json
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
VAGUE = ("one", "found", "given", "grown", "every")  # names that do not say what they hold
PARTICIPLES = ("told", "meant", "said", "own", "asked", "shown", "kept", "known")  # nor do these: a noun does
OPTIONS = ("typer.Option", "typer.Argument")  # declared once, also where several commands have it
EMPTY = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def modules(*folders: str) -> Iterator[Path]:
    """Yield the Python files of folders."""
    return (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


def code_lines(path: Path) -> int:
    """Return the code lines of a module."""
    text = path.read_text(encoding="utf-8")
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            docstrings |= set(range(body[0].lineno, body[0].end_lineno + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for token in tokens if token.type not in EMPTY for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - docstrings)


def frame(path: Path) -> tuple[int, int]:
    """Return the lines of a module that are imports or decorators, and its lines without blank ones and comments."""
    text = path.read_text(encoding="utf-8")
    code = {n for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.strip().startswith("#")}
    around = set()
    for node in ast.parse(text).body:
        parts = [node] if isinstance(node, ast.Import | ast.ImportFrom) else getattr(node, "decorator_list", [])
        around |= {line for part in parts for line in range(part.lineno, part.end_lineno + 1)}
    return len(around & code), len(code)


def vague_names(*folders: str, words: Sequence[str] = VAGUE) -> Counter[str]:
    """Count the variables and parameters that are called by one of some words, where they are bound."""
    names: Counter[str] = Counter()
    for path in modules(*folders):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            bound = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if bound else node.arg if isinstance(node, ast.arg) else ""
            if name in words:
                names[name] += 1
    return names


def words(*patterns: str) -> int:
    """Return the words of text files."""
    return sum(len(path.read_text(encoding="utf-8").split()) for pattern in patterns for path in ROOT.glob(pattern))


def shown() -> Iterator[str]:
    """Yield a line for each figure."""
    for folder in ("excam", "scripts", "bench", "tests"):
        paths = list(modules(folder))
        yield f"{folder}: {sum(map(code_lines, paths)):,} code lines in {len(paths)} files"
    framed, written = (sum(sizes) for sizes in zip(*map(frame, modules("scripts")), strict=True))
    yield f"scripts: {framed / written:.0%} of the lines are imports or declarations"
    rules = [line.strip() for path in (ROOT / "rules").glob("*.smk") for line in path.read_text().splitlines()]
    yield f"rules: {sum(bool(line) and not line.startswith('#') for line in rules):,} lines"
    nodes = [node for path in modules("excam") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    options = sum(isinstance(node, ast.Call) and ast.unparse(node.func) in OPTIONS for node in nodes)
    classes = sum(isinstance(node, ast.ClassDef) and not node.name.startswith("_") for node in nodes)
    schema = json.loads((ROOT / "config.schema.json").read_text(encoding="utf-8"))
    settings = sum(len(section.get("properties", ())) for section in (schema, *schema["$defs"].values()))
    yield f"excam: {options} options of commands, {settings} settings, {classes} public classes"
    yield f"vague names in excam, scripts, bench: {dict(vague_names('excam', 'scripts', 'bench'))}"
    yield f"words: docs {words('docs/*.md'):,}, README {words('README.md'):,}, CHANGELOG {words('CHANGELOG.md'):,}"


if __name__ == "__main__":
    print("\n".join(shown()))
