"""Every check on a folder of kept or handed-in files, for teachers: gpt2lab grade FOLDER.

It runs what strangers wrote. Each function runs in a process of its own, with a limit of time and
without Python's way to the network; that stops accidents, not attacks. Grade code that you do not
trust in a container or a virtual machine that holds nothing of worth.
"""
import ast
import multiprocessing
import socket
import time
from pathlib import Path

from .attempting import told
from .exercises import exercises, title
from .judging import recognise, results_of
from .keeping import load

# A forked process need not import everything again.
PROCESSES = multiprocessing.get_context(
    "fork" if "fork" in multiprocessing.get_all_start_methods() else None)
LIMIT = 60              # seconds for one function, all its cases and the search for its mistake


def grade(folder, names=None):
    """One dict a learner and exercise: learner, exercise, passed, cases, mistake, seconds, error.

    folder: one learner's files, or a folder for each learner (their files, or notebooks/my_ops).
    names: the exercises that are asked for; then one that is not there counts as not passed.
    Without names, each function that is there is graded. Raises: ValueError for a wrong name.
    """
    known = exercises()
    for name in names or ():
        if name not in known:
            raise ValueError(f"grade: there is no exercise {name}; there are {', '.join(known)}")
    learners = list(learners_in(Path(folder)))
    if not learners:
        raise ValueError(f"grade: {folder} holds no .py file of an exercise, nor such a folder")
    for learner, files in learners:
        for name in names or files:
            yield {"learner": learner, "exercise": name, **graded(files.get(name), name)}


def learners_in(folder):
    """(learner, {exercise: file}) of a folder; the learner of the folder itself has its name."""
    if not folder.is_dir():
        raise ValueError(f"grade: there is no folder {folder}")
    files = files_of(folder)
    if files:
        yield folder.resolve().name, files
        return
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = next(filter(None, map(files_of, (
            place, place / "my_ops", place / "notebooks" / "my_ops"))), {})
        if files:
            yield place.name, files


def files_of(folder):
    """{exercise: file} of the .py files of a folder, in the order of the exercises.

    A file named as an exercise answers that one; any other all those whose functions it defines.
    """
    found, known = {}, exercises()
    for path in sorted(folder.glob("*.py")):
        names = [path.stem] if path.stem in known else functions_in(path) & known.keys()
        for name in sorted(names):
            found.setdefault(name, path)
    return {name: found[name] for name in known if name in found}


def functions_in(path):
    """Names of the functions that a file defines; none where it is no Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError):
        return set()
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def graded(path, name):
    """The verdict on one function of one file, from a process of its own."""
    result = {"passed": 0, "cases": len(exercises()[name].cases), "mistake": None, "seconds": 0.0,
              "error": "not handed in"}
    if path is None:
        return result
    begin = time.perf_counter()
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_judge, args=(path, name, there), daemon=True)
    process.start()
    there.close()
    try:
        stopped = {"error": f"stopped after {LIMIT} seconds"}
        told_by_it = here.recv() if here.poll(LIMIT) else stopped
    except EOFError:                            # it ended without a word
        process.join(1)
        told_by_it = {"error": f"its process ended with status {process.exitcode}"}
    process.kill()
    process.join()
    return result | {"error": None, "seconds": round(time.perf_counter() - begin, 3)} | told_by_it


def _judge(path, name, there):
    """In the process: run the cases and send what came out."""
    def no_network(*_, **__):
        raise OSError("no network while functions are graded")
    socket.socket = socket.create_connection = socket.getaddrinfo = no_network
    exercise = exercises()[name]
    try:
        function = load(path.read_text(encoding="utf-8"), name, path)
        results, misses = results_of(exercise, function)
        wrong = [i for i, text in enumerate(misses) if text]
        known = recognise(exercise, results, misses)[0] if wrong else None
        first = f"{exercise.cases[wrong[0]].label}: {misses[wrong[0]]}" if wrong else None
        there.send({"passed": misses.count(None), "mistake": title(known) if known else None,
                    "error": first})
    except Exception as error:
        there.send({"error": told(error) if not isinstance(error, ValueError) else str(error)})
