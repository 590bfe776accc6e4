#!/usr/bin/env python3
"""Checks the prose of documents and of comments in Java: prose.py [FILE...], or all tracked *.md and *.java files.

Refused are sentences of more than 25 words, sentences that begin with "Who", "What" or "Those", links to files or headings that do
not exist, and code spans with a class or file that the source does not have (history may name them). A code span is one word, and so is a list of them. Code blocks, generated documents and released parts of the
change log are not read. In a table's cell a semicolon ends a sentence, too.

In Java no sentence of a comment begins with "Who", "What", "Whoever", "Of" or "Those", where a noun can stand, and no line of
a comment is longer than 140 columns, tables apart.
"""

import functools
import pathlib
import re
import subprocess
import sys

MOST_WORDS = 25
MOST_COLUMNS = 140
GENERATED = {"ipc-endpoint/engine/FUNCTIONS.md"}
HISTORY = ("docs/decisions/", "docs/measurements.md", "CHANGELOG.md")
ROOT = pathlib.Path(__file__).resolve().parent.parent

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
ITEM = re.compile(r"^\s*([*+-]|\d+\.)\s+")
RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(`+)(.+?)\1")
END = re.compile(r"[.!?][\"')*_”]*\s+(?=[\"'(*_“]*[A-Z0-9])")
BAD_START = re.compile(r"^[\"'(*_“\s]*(Who|What|Those)\b")
WORD = re.compile(r"[^\W_]")
COMMENT = re.compile(r"^\s*///? ?(.*)$")
COMMENT_ITEM = re.compile(r"^\s*(?:(?:[*+-]|\d+\.)\s+|@(?:param|throws)\s+\S+\s*|@return\s*|\|)")
COMMENT_END = re.compile(r"[.!?][\"')*_”]*\s+(?=[\"'(*_“\[`]*[A-Z0-9`\[])")
COMMENT_START = re.compile(r"^[\"'(*_“\s]*(Who|What|Whoever|Of|Those)\b")
CLASS = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
FILE = re.compile(r"[\w-]+\.(?:c|h|java|sh|py|conf)")
SOURCES = ("*.java", "*.c", "*.h", "*.xml", "*.txt", "*.sh", "*.py", "*.js", "*.conf", "Makefile")


def blocks(lines):
    """Yields (line number, text, whether it is a table's cell): paragraphs, list items, headings, cells.

    >>> list(blocks(["# A", "b", "c", "* d", "```", "e", "```", "| f | g |", "|---|---|"]))
    [(1, 'A', False), (2, 'b c', False), (4, 'd', False), (8, ' f ', True), (8, ' g ', True)]
    """
    text, start, fenced = [], 0, False

    def flush():
        nonlocal text
        joined, text = " ".join(text), []
        return [(start, joined, False)] if joined.strip() else []

    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            yield from flush()
            fenced = not fenced
        elif fenced:
            continue
        elif not line.strip() or HEADING.match(line):
            yield from flush()
            if line.strip():
                yield number, HEADING.match(line).group(2), False
        elif line.lstrip().startswith("|"):
            yield from flush()
            if not RULE.match(line):
                for cell in re.split(r"(?<!\\)\|", spans(line.strip().strip("|"))):
                    yield number, cell, True
        else:
            if ITEM.match(line):
                yield from flush()
                line = line[ITEM.match(line).end() :]
            if not text:
                start = number
            text.append(line.strip())
    yield from flush()


def spans(text):
    """Code spans become one capital word, as they may begin a sentence; a list of them is one word."""
    text = CODE.sub("C0de", text)
    return re.sub(r"C0de(?:(?:,| and| or|,? to|/| ÷| \+| ←| →| ·) C0de)+", "C0de", text)


def sentences(text, cell):
    """Links count by their text; a cell is divided by semicolons, too.

    >>> list(sentences("It waits. `Lane` runs [a task](x.md). See 1.5.", False))
    ['It waits', 'C0de runs a task', 'See 1.5.']
    >>> list(sentences("`a`, `b` and `c` wait; it runs", True))
    ['C0de wait', ' it runs']
    """
    text = LINK.sub(r"\1", spans(text))
    for sentence in END.split(text):
        yield from sentence.split(";") if cell else [sentence]


def slug(heading):
    """The anchor that GitHub gives a heading.

    >>> slug("6. `Row` batches: layout")
    '6-row-batches-layout'
    """
    heading = re.sub(r"[`*]", "", LINK.sub(r"\1", heading)).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading))


def anchors(path):
    fenced, found, seen = False, set(), {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and HEADING.match(line):
            name = slug(HEADING.match(line).group(2))
            seen[name] = seen.get(name, -1) + 1
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
    return found


def readable(path, lines):
    """Without the released parts of the change log: their lines become empty, so that numbers stay."""
    if path.name != "CHANGELOG.md":
        return lines
    released, kept = False, []
    for line in lines:
        if line.startswith("## "):
            released = "not released" not in line.lower()
        kept.append("" if released else line)
    return kept


def tracked(*patterns):
    command = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


@functools.cache
def source_names():
    """Words with a capital letter of the sources, and names of files."""
    words, files = set(), set()
    for name in tracked(*SOURCES):
        files.add(name.rsplit("/", 1)[-1])
        path = ROOT / name
        if path.exists():
            words.update(CLASS.findall(path.read_text(encoding="utf-8", errors="replace")))
    return words, files


def unknown_names(line):
    words, files = source_names()
    for span in (each[1] for each in CODE.findall(line)):
        first = span.split(".")[0]
        if FILE.fullmatch(span):
            if span not in files:
                yield span
        elif re.fullmatch(r"[\w.]+", span) and CLASS.fullmatch(first) and first not in words:
            yield span


def check(path):
    name = path.relative_to(ROOT)
    lines = path.read_text(encoding="utf-8").splitlines()
    complaints = []
    for number, text, cell in blocks(readable(path, lines)):
        for sentence in sentences(text, cell):
            words = [word for word in sentence.split() if WORD.search(word)]
            if len(words) > MOST_WORDS:
                complaints.append(f"{name}:{number}: {len(words)} words: {' '.join(words[:9])} ...")
            if BAD_START.match(sentence):
                complaints.append(f"{name}:{number}: begins with {words[0]!r}: {' '.join(words[:9])} ...")
    fenced = False
    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            fenced = not fenced
        if not fenced and not str(name).startswith(HISTORY):
            complaints.extend(f"{name}:{number}: the source has no {each}" for each in unknown_names(line))
        for _, target in [] if fenced else LINK.findall(CODE.sub("", line)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            linked = (path.parent / file).resolve() if file else path
            if not linked.exists():
                complaints.append(f"{name}:{number}: no such file: {target}")
            elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
                complaints.append(f"{name}:{number}: no such heading: {target}")
    return complaints


def comments(lines):
    """Yields (line number, text) of what a comment says: paragraphs, list items, tags.

    >>> list(comments(["/// A b.", "/// c", "///", "/// @param x d", "int x; // e", "  // f"]))
    [(1, 'A b. c'), (4, 'd'), (6, 'f')]
    """
    text, start = [], 0
    for number, line in enumerate([*lines, ""], 1):
        found = COMMENT.match(line)
        said = found.group(1) if found else ""
        item = COMMENT_ITEM.match(said)
        if text and (not said.strip() or item):
            yield start, " ".join(text)
            text = []
        if said.strip():
            if not text:
                start = number
            text.append((said[item.end() :] if item else said).strip())


def check_java(path):
    name = path.relative_to(ROOT)
    lines = path.read_text(encoding="utf-8").splitlines()
    complaints = []
    for number, text in comments(lines):
        for sentence in COMMENT_END.split(text):
            if COMMENT_START.match(sentence):
                words = sentence.split()
                complaints.append(f"{name}:{number}: begins with {words[0]!r}: {' '.join(words[:9])} ...")
    for number, line in enumerate(lines, 1):
        said = COMMENT.match(line)
        if said and len(line) > MOST_COLUMNS and not said.group(1).startswith("|"):
            complaints.append(f"{name}:{number}: {len(line)} columns")
    return complaints


def main(arguments):
    if arguments:
        paths = [pathlib.Path(argument).resolve() for argument in arguments]
    else:
        names = tracked("*.md", "*.java")
        paths = [ROOT / each for each in names if each not in GENERATED and (ROOT / each).exists()]
    complaints = []
    for path in paths:
        complaints.extend(check_java(path) if path.suffix == ".java" else check(path))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
