"""Functions from files of their own, joined in one file where no name stands for two things."""
import ast
import re
import sys
from dataclasses import fields

from gpt2lab.model import Ops

from .sourcing import indented

# What a kept file may import from gpt2lab: the file that is made has these too, by these names.
OPERATIONS = {*(field.name for field in fields(Ops)), "probabilities", "sample"}
WIDTH = 100             # columns


def joined(name, text, taken):
    """(text that defines the function `name`, lines to import) from the text of its file.

    taken: {name that is in the joined file: what it stands for; None: something else}; what this
    text adds is put in. What is there already is not repeated. Where a name would clash, the
    function gets a scope of its own with all that it needs.
    Raises: ValueError for a text that needs more than Python, NumPy and OPERATIONS.
    """
    parts, found = [], []                       # (node, text) to keep; imports
    for node, part in statements(text):
        _check_imports(node)
        if _is_operation(node):                 # the library stood in: here the joined file's does
            parts += statements("\n".join(f"{alias.asname} = {alias.name}" for alias in node.names
                                          if alias.asname))
        elif imports(node):
            found += imports(node)
        elif not _is_docstring(node):
            parts.append((node, part))
    made = [(other, part) for node, part in parts for other in bound(node)]
    if name not in dict(made):
        raise ValueError(f"it holds no function {name}")
    plain = all(bound(node) for node, _ in parts) and [other for other, _ in made].count(name) == 1
    inside = [line for other, meaning, line in found if taken.get(other, meaning) != meaning]
    lines = [line for _, _, line in found if line not in inside]
    clash = any(taken.get(other, part) != part for other, part in made if other != name)
    taken |= {other: meaning for other, meaning, line in found if line in lines}
    if clash or inside or not plain:
        return _in_a_scope(name, [part for _, part in parts], inside, taken), lines
    kept = [folded(part) for node, part in parts
            if name in bound(node) or not taken.keys() >= set(bound(node))]
    taken |= dict(made)
    return "\n\n".join(kept), lines


def _in_a_scope(name, parts, lines, taken):
    """The text that defines a function in a function around it and what it needs."""
    scope = f"own_{name}"
    while scope in taken:
        scope += "_"
    taken[scope] = None
    body = "\n\n".join(filter(None, [import_lines(lines), *map(folded, parts), f"return {name}"]))
    return f"def {scope}():\n{indented(body)}\n\n{name} = {scope}()"


def statements(text):
    """[(node, its text with the comments above it)] of the statements of a file."""
    try:
        nodes = ast.parse(text).body
    except SyntaxError as error:
        raise ValueError(f"it is no Python (line {error.lineno})") from None
    lines, ends = text.split("\n"), [0, *(node.end_lineno for node in nodes)]
    return [(node, "\n".join(lines[end:node.end_lineno]).strip("\n"))
            for node, end in zip(nodes, ends)]


def imports(node):
    """[(name, what it stands for, line that imports it alone)] of an import; else none."""
    if isinstance(node, ast.ImportFrom):
        heads = [f"from {'.' * node.level}{node.module or ''} import {alias.name}"
                 for alias in node.names]
    else:
        heads = [f"import {alias.name}" for alias in getattr(node, "names", ())
                 if isinstance(node, ast.Import)]
    found = []
    for alias, head in zip(getattr(node, "names", ()), heads):
        line = f"{head} as {alias.asname}" if alias.asname else head
        package = isinstance(node, ast.Import) and not alias.asname     # import a.b gives a
        first = alias.name.split(".")[0]
        found.append((alias.asname or first, f"import {first}" if package else line, line))
    return found


def _is_operation(node):
    """Is it the import of an operation of the library, of which the file has one too?"""
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpt2lab.") and all(
        alias.name in OPERATIONS for alias in node.names)


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _check_imports(statement):
    """ValueError where a statement, or a function in it, imports more than Python and NumPy."""
    for node in ast.walk(statement):
        if node is statement and _is_operation(node):
            continue
        for _, _, line in imports(node):
            package = re.split(r"[ .]", line)[1]
            if package not in sys.stdlib_module_names and package != "numpy":
                raise ValueError(f"it needs more than Python and NumPy ({line})")


def bound(node):
    """The names that a statement makes, of those that sourcing writes; none for another one."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(
        node, ast.AnnAssign) else []
    return [part.id for target in targets for part in ast.walk(target)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def import_lines(lines):
    """Import lines as they are usually sorted: each once, Python's own before NumPy."""
    groups = {"future": [], "own": [], "others": []}
    for line in sorted(set(lines)):
        package = re.split(r"[ .]", line)[1]
        groups["future" if package == "__future__" else
               "own" if package in sys.stdlib_module_names else "others"].append(line)
    for group in groups.values():
        plain = [line for line in group if line.startswith("import")]
        froms = {}
        for line in group:
            if line not in plain:
                module, name = line.split(" import ")
                froms.setdefault(module, []).append(name)
        group[:] = plain + [f"{module} import {', '.join(froms[module])}" for module in froms]
    return "\n\n".join("\n".join(group) for group in groups.values() if group)


def folded(text):
    """The text with the heads of long defs on two lines."""
    lines = []
    for line in text.split("\n"):
        cut = line.rfind(", ", 0, WIDTH) + 1
        if len(line) > WIDTH and line.lstrip().startswith("def ") and cut:
            lines.append(line[:cut])
            line = " " * (line.index("(") + 1) + line[cut:].lstrip()
        lines.append(line)
    folded = "\n".join(lines)
    return folded if ast.dump(ast.parse(folded)) == ast.dump(ast.parse(text)) else text
