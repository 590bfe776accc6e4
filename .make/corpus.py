#!/usr/bin/env python3
"""Inputs of a fuzz target, as the tree keeps them and as fuzzers read them.

corpus.py unpack FILE.txt DIRECTORY    makes a file of each input
corpus.py pack DIRECTORY FILE.txt      adds the inputs of a directory that the file has not; prints how many
corpus.py only DIRECTORY FILE.txt      keeps those alone, besides what a comment names

A line of FILE.txt is one input in base64; one that begins with # is a comment, and names the inputs up to the next empty line.
Named inputs were findings once: they stay, whatever they reach.
"""

import base64
import hashlib
import os
import sys


def parse(text):
    """Named blocks as they stand, and the other inputs.

    >>> parse("# loop\\nAQ==\\n\\nAg==\\n")
    ([['# loop', 'AQ==']], ['Ag=='])
    """
    blocks, others = [], []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line]
        if any(line.startswith("#") for line in lines):
            blocks.append(lines)
        else:
            others += lines
    return blocks, others


def form(blocks, others):
    """The text of a file: named blocks first, then the other inputs from the shortest on.

    >>> form([['# loop', 'AQ==']], ['Agee', 'Ag=='])
    '# loop\\nAQ==\\n\\nAg==\\nAgee\\n'
    """
    named = {line for block in blocks for line in block}
    rest = sorted(set(others) - named, key=lambda line: (len(line), line))
    parts = ["\n".join(block) + "\n" for block in blocks]
    if rest:
        parts.append("\n".join(rest) + "\n")
    return "\n".join(parts)


def read(path):
    if not os.path.exists(path):
        return [], []
    with open(path, encoding="ascii") as file:
        return parse(file.read())


def inputs(directory):
    found = []
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            content = file.read()
        # An empty line would be a mark.
        if content:
            found.append(base64.b64encode(content).decode("ascii"))
    return found


def unpack(path, directory):
    os.makedirs(directory, exist_ok=True)
    blocks, others = read(path)
    for line in others + [line for block in blocks for line in block if not line.startswith("#")]:
        content = base64.b64decode(line)
        with open(os.path.join(directory, hashlib.sha1(content).hexdigest()), "wb") as file:
            file.write(content)


def pack(directory, path, keep):
    blocks, others = read(path)
    before = len(others)
    found = inputs(directory)
    text = form(blocks, others + found if keep else found)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    print(f"{path}: {before} inputs before, {len(parse(text)[1])} now, {len(text)} bytes")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    _, action, source, target = sys.argv
    if action == "unpack":
        unpack(source, target)
    elif action in ("pack", "only"):
        pack(source, target, action == "pack")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
