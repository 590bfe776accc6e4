#!/usr/bin/env python3
"""The order of the folders of C sources: .make/c_folders.py [CHECKOUT]

No file includes or uses what is in a folder above its own (ORDER, ground floor first). At most two files need each other, directly
or by way of others. A folder has at most 40 files, and no two files have the same name. src/ipc includes no header of PostgreSQL.
Says what is wrong, a line each, and exits 1.

A use is a function or variable of another file by its name: those that other files can see begin with kakehashi_ or kh_. Types and
macros come with includes. Definitions are found by their form, which clang-format keeps: the name stands at the beginning of a line.
"""

import os
import re
import sys

SOURCES = "fdw-extension/src"
PUBLIC = "fdw-extension/include"
ORDER = ["ipc/generated", "ipc", "ipc/direct"] + [
    "fdw/" + folder
    for folder in "base session row deparse transaction plan explain scan lookup modify command module".split()
]
MOST_FILES = 40
MOST_IN_CIRCLE = 2

FUNCTION = re.compile(r"^(.*)\n((?:kakehashi|kh)_\w+)\(", re.M)
VARIABLE = re.compile(r"^(?!static|extern|typedef|return)\w[\w \t]*[ *]((?:kakehashi|kh)_\w+)(?:\[[^;]*?\])?(?: =|;)", re.M)
NAME = re.compile(r"\b(?:kakehashi|kh)_\w+")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def without_comments(text):
    """Comments and strings are no code.

    >>> without_comments('a; /* kh_b */ c("kh_d", \\'"\\');').split()
    ['a;', 'c(', ',', ');']
    """
    return re.sub(r'/\*.*?\*/|//[^\n]*|(?<!include )"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', " ", text, flags=re.S)


def definitions(text):
    """Functions and variables that other files can see.

    >>> sorted(definitions("int kh_a = 1;\\nvoid\\nkh_b(void)\\n{\\n\\tkh_c();\\n}\\nstatic int\\nkh_d(void)\\nextern int kh_e(void);\\n"))
    ['kh_a', 'kh_b']
    """
    found = {m.group(2) for m in FUNCTION.finditer(text) if not re.search(r"\bstatic\b", m.group(1))}
    return found | {m.group(1) for m in VARIABLE.finditer(text)}


def circles(arrows):
    """Sets of files that need each other, from a map of a file to those that it needs (Tarjan's strongly connected components).

    >>> [sorted(c) for c in circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()})]
    [['a', 'b', 'c']]
    """
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(arrows[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return found


def read(checkout):
    """Texts by path below the sources, without comments."""
    root = os.path.join(checkout, SOURCES)
    texts = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    texts[os.path.relpath(path, root)] = without_comments(file.read())
    return texts


def check_folders(texts):
    members = {}
    for path in texts:
        members.setdefault(os.path.dirname(path), []).append(path)
    for folder in sorted(set(members) | set(ORDER)):
        if folder not in ORDER:
            yield f"{SOURCES}/{folder}: has no place in the order of folders (ORDER of .make/c_folders.py)"
        elif folder not in members:
            yield f"{SOURCES}/{folder}: is in the order of folders, and has no files"
        elif len(members[folder]) > MOST_FILES:
            yield f"{SOURCES}/{folder}: has {len(members[folder])} files; at most {MOST_FILES}"
    names = {}
    for path in sorted(texts):
        other = names.setdefault(os.path.basename(path), path)
        if other != path:
            yield f"{SOURCES}/{path}: has the name of {SOURCES}/{other}"


def check_includes(checkout, texts):
    for path in sorted(texts):
        folder = os.path.dirname(path)
        for name in INCLUDE.findall(texts[path]):
            found = [p for p in (os.path.normpath(os.path.join(folder, name)), name) if p in texts]
            if found and is_above(os.path.dirname(found[0]), folder):
                yield f"{SOURCES}/{path}: includes {found[0]}, which stands above it"
            elif not found and folder.startswith("ipc") and not os.path.exists(os.path.join(checkout, PUBLIC, name)):
                yield f'{SOURCES}/{path}: includes "{name}", which is not of this project'


def is_above(other, folder):
    return other in ORDER and folder in ORDER and ORDER.index(other) > ORDER.index(folder)


def check_uses(texts):
    sources = {path: text for path, text in texts.items() if path.endswith(".c")}
    owners = {}
    for path, text in sources.items():
        for name in definitions(text):
            owners.setdefault(name, set()).add(path)
    arrows = {}
    for path, text in sorted(sources.items()):
        needed = {}
        for name in NAME.findall(text):
            for owner in owners.get(name, ()):
                needed.setdefault(owner, name)
        needed.pop(path, None)
        wrong = {owner for owner in needed if is_above(os.path.dirname(owner), os.path.dirname(path))}
        for owner in sorted(wrong):
            yield f"{SOURCES}/{path}: uses {needed[owner]} of {owner}, which stands above it"
        arrows[path] = set(needed) - wrong
    for circle in circles(arrows):
        if len(circle) > MOST_IN_CIRCLE:
            yield f"{SOURCES}: {len(circle)} files need each other: {' '.join(sorted(circle))}"


def check(checkout):
    texts = read(checkout)
    return [*check_folders(texts), *check_includes(checkout, texts), *check_uses(texts)]


if __name__ == "__main__":
    errors = check(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    print("\n".join(errors), end="\n" if errors else "")
    sys.exit(1 if errors else 0)
