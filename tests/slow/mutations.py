"""Every change of a function at one place that a slip of the hand could make."""
import ast
import copy

SWAPS = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add],
    ast.Mult: [ast.Div], ast.Div: [ast.Mult, ast.FloorDiv], ast.FloorDiv: [ast.Div],
    ast.Mod: [ast.FloorDiv], ast.Pow: [ast.Mult],
    ast.LShift: [ast.RShift], ast.RShift: [ast.LShift],
    ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd],
    ast.Lt: [ast.LtE, ast.Gt], ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt], ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.In: [ast.NotIn], ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.And: [ast.Or], ast.Or: [ast.And]}
NAMES = {
    "float32": ["float64"], "float64": ["float32"], "int8": ["uint8", "int16"], "uint8": ["int8"],
    "max": ["min"], "min": ["max"], "argmax": ["argmin"], "sum": ["mean"], "mean": ["sum"],
    "std": ["var"], "var": ["std"], "zeros": ["ones"], "floor": ["round"], "rint": ["floor"],
    "round": ["floor"], "ceil": ["floor"], "any": ["all"], "all": ["any"], "exp": ["exp2"],
    "log": ["log2"], "cumsum": ["cumprod"]}


def mutants(source):
    """[(what was changed, source)] for one function; each differs from the source at one place.

    source: the text of definitions, of which the last is changed. Changed are operators,
    comparisons, numbers, axes, dtypes and neighbouring functions; dropped are statements, keyword
    arguments, minus signs, nots and conversions; swapped are the operands of a product.
    """
    tree = ast.parse(source)
    function = _last_function(tree)
    found = []
    for place, node in enumerate(ast.walk(function)):
        for what, change in _changes(node):
            copied = copy.deepcopy(tree)
            change(list(ast.walk(_last_function(copied)))[place])
            text = ast.unparse(ast.fix_missing_locations(copied))
            if text != ast.unparse(tree) and text not in {other for _, other in found}:
                found.append((f"{what} in: {_line(function, node)}", text))
    return found


def _last_function(tree):
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)][-1]


def _changes(node):
    """(what, function that changes the twin of a node) for each change of this node."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other in SWAPS.get(type(node.op), []):
            yield f"{_name(node.op)} to {other.__name__}", (
                lambda twin, o=other: setattr(twin, "op", o()))
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Sub, ast.Div)):
            yield "operands swapped", _swap
    if isinstance(node, ast.Compare):
        for other in SWAPS.get(type(node.ops[0]), []):
            yield f"{_name(node.ops[0])} to {other.__name__}", lambda twin, o=other: setattr(
                twin, "ops", [o(), *twin.ops[1:]])
    if isinstance(node, ast.BoolOp):
        yield "and/or", lambda twin: setattr(twin, "op", SWAPS[type(twin.op)][0]())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        yield f"{_name(node.op)} dropped", lambda twin: _become(twin, twin.operand)
    if isinstance(node, ast.Constant):
        for value in _values(node.value):
            yield f"{node.value!r} to {value!r}", lambda twin, v=value: setattr(twin, "value", v)
    if isinstance(node, ast.Attribute):
        for other in NAMES.get(node.attr, []):
            yield f"{node.attr} to {other}", lambda twin, o=other: setattr(twin, "attr", o)
    if isinstance(node, ast.Call):
        for i, keyword in enumerate(node.keywords):
            if keyword.arg:
                yield f"{keyword.arg}= dropped", lambda twin, i=i: twin.keywords.pop(i)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "copy", "tolist"):
            yield f"{node.func.attr} dropped", lambda twin: _become(twin, twin.func.value)
        if isinstance(node.func, ast.Name) and node.func.id in ("int", "float", "list", "tuple"):
            yield f"{node.func.id}() dropped", (
                lambda twin: twin.args and _become(twin, twin.args[0]))
    for field in ("body", "orelse"):
        statements = getattr(node, field, None)
        if isinstance(statements, list):
            for i, statement in enumerate(statements):
                text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                if not isinstance(statement, (ast.Return, ast.FunctionDef)) and not text:
                    yield f"dropped {ast.unparse(statement).splitlines()[0]!r}", (
                        lambda twin, f=field, i=i: _drop(getattr(twin, f), i))


def _values(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 1.01, value + 1]
    return []


def _swap(twin):
    twin.left, twin.right = twin.right, twin.left


def _drop(statements, i):
    statements[i] = ast.Pass()


def _become(twin, other):
    """Turn a node into another one, in place."""
    twin.__class__ = other.__class__
    vars(twin).clear()
    vars(twin).update(vars(other))


def _name(op):
    return type(op).__name__


def _line(function, node):
    """The source of the innermost statement that holds a node, in one line."""
    best = function
    for statement in ast.walk(function):
        if isinstance(statement, ast.stmt) and any(child is node for child in ast.walk(statement)):
            if len(ast.unparse(statement)) <= len(ast.unparse(best)):
                best = statement
    return ast.unparse(best).splitlines()[0]
