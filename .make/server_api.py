#!/usr/bin/env python3
"""What a server's headers have that the extension has not been looked at for: .make/server_api.py INCLUDEDIR
(pg_config --includedir-server). Says what is new, a line each, and exits 1.

A compiler finds what has gone or has another type. It finds no new member of a node, and no new value of an enumeration, although a deparser that
does not look at it sends the engine another query. So fdw-extension/test/server-api.txt lists the members that are known: whoever adds one to it has
seen to it that the extension asks for it, or need not.

    .make/server_api.py --write INCLUDEDIR...    lists what these versions have, of the names that are in the list
"""

import glob
import os
import re
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fdw-extension", "test", "server-api.txt")

COMMENT = re.compile(r"/\*.*?\*/", re.S)
ATTRIBUTES = re.compile(r"pg_node_attr\((?:[^()]|\([^()]*\))*\)")
STRUCT = re.compile(r"\bstruct\s*(\w*)\s*\{(.*?)\n\}\s*(\w*)", re.S)
ENUM = re.compile(r"\benum\s*(\w*)\s*\{(.*?)\n\}\s*(\w*)", re.S)
DEFINE = re.compile(r"^#define\s+(\w+)[ \t]+\S", re.M)


def members(body):
    """Names of a structure's members.

    >>> members("Expr xpr;\\n int a[3];\\n List *b pg_node_attr(x(1));\\n bool (*c) (int d);\\n struct E *e;")
    ['xpr', 'a', 'b', 'c', 'e']
    """
    found = []
    for member in ATTRIBUTES.sub("", body).split(";"):
        function = re.search(r"\(\s*\*\s*(\w+)\s*\)", member)
        plain = re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?::\s*\d+)?\s*$", member)
        if function or plain:
            found.append((function or plain).group(1))
    return found


def values(body):
    """Names of an enumeration's values.

    >>> values("A = 1, B,\\n C = 'x',")
    ['A', 'B', 'C']
    """
    return [name.group(1) for name in (re.match(r"\s*(\w+)", value) for value in body.split(",")) if name]


def parse(text, wanted):
    """Members and values of the wanted names of a header. A name that ends with an underscore stands for the macros that begin with it.

    >>> parse("typedef struct A\\n{\\n int b; /* c; */\\n} A;\\n#define F_X 1\\nenum\\n{\\n E\\n} D;", {"A", "D", "F_"})
    {'A': ['b'], 'D': ['E'], 'F_': ['F_X']}
    """
    text = COMMENT.sub("", text)
    found = {}
    for form, names in ((STRUCT, members), (ENUM, values)):
        for match in form.finditer(text):
            name = match.group(1) or match.group(3)
            if name in wanted:
                found.setdefault(name, []).extend(names(match.group(2)))
    for match in DEFINE.finditer(text):
        for prefix in wanted:
            if prefix.endswith("_") and match.group(1).startswith(prefix):
                found.setdefault(prefix, []).append(match.group(1))
    return found


def read_headers(directory, wanted):
    found = {}
    for path in sorted(glob.glob(os.path.join(directory, "**", "*.h"), recursive=True)):
        with open(path, encoding="utf-8", errors="replace") as header:
            for name, has in parse(header.read(), wanted).items():
                found.setdefault(name, set()).update(has)
    return found


def read_list(lines):
    """
    >>> read_list(["# x", "A: b c", ""])
    {'A': ['b', 'c']}
    """
    known = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(":")
            known[name.strip()] = rest.split()
    return known


def main(arguments):
    write = arguments[:1] == ["--write"]
    directories = arguments[1:] if write else arguments
    if not directories or (not write and len(directories) > 1):
        sys.exit(__doc__)
    with open(LIST, encoding="utf-8") as file:
        lines = file.read().splitlines()
    known = read_list(lines)
    found = {}
    for directory in directories:
        headers = read_headers(directory, set(known))
        if not headers:
            sys.exit(f"error: there are no headers of a PostgreSQL server in {directory}")
        for name, has in headers.items():
            found.setdefault(name, set()).update(has)
    if write:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines if line.startswith("#"))
            for name in sorted(known):
                file.write(f"{name}: {' '.join(sorted(found.get(name, [])))}\n")
        return 0
    new = 0
    for name in sorted(known):
        for member in sorted(found.get(name, set()) - set(known[name])):
            print(f"new in {name}: {member}")
            new += 1
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
