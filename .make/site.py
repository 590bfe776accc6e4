#!/usr/bin/env python3
"""Lays out the pages of the documentation: site.py ROOT CODE TARGET.

The pages of docs/site/pages.txt are documents of the sources, with links that hold between pages. Links to what is no page become
their text. CODE has what packaging/documents.sh has made; settings, errors and routes are made here, of the sources.
"""

import json
import pathlib
import re
import shutil
import sys

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(`+)(.+?)\1")


def slug(heading):
    """The anchor that documents use, which is that of GitHub.

    >>> slug("6. `Row` batches: layout")
    '6-row-batches-layout'
    """
    heading = re.sub(r"[`*]", "", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading))


def section(lines, anchor):
    """The lines below a heading, up to the next one of its depth; headings go up by one."""
    kept, depth, fenced = [], 0, False
    for line in lines:
        if FENCE.match(line):
            fenced = not fenced
        found = None if fenced else HEADING.match(line)
        if found and depth and len(found[1]) <= depth:
            break
        if found and slug(found[2]) == anchor:
            depth = len(found[1])
        if depth:
            kept.append(line[1:] if found and depth > 1 else line)
    return kept


def pages(root):
    """Name of the page by (document, anchor)."""
    found = {}
    for line in (root / "docs/site/pages.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            page, source = line.split()
            document, _, anchor = source.partition("#")
            found[document, anchor] = page
    return found


class Links:
    """Rewrites the links of one document."""

    def __init__(self, root, document, anchor, known, cookbook):
        self.root, self.document, self.anchor, self.known, self.cookbook = root, document, anchor, known, cookbook

    def target(self, link):
        """Where it is among the pages, or nothing."""
        if re.match(r"[a-z]+:", link):
            return link
        file, _, anchor = link.partition("#")
        path = self.document if not file else str((self.root / self.document).parent.joinpath(file).resolve().relative_to(self.root))
        if path == "README.md" and not anchor:
            return "index.md"
        if path == "README.md" and anchor in self.cookbook:
            page = self.known["README.md", "cookbook"]
        else:
            page = self.known.get((path, ""))
        if path.endswith("kakehashi.conf"):
            return "settings.md"
        if not page:
            return None
        return f"#{anchor}" if anchor and not file else page + (f"#{anchor}" if anchor else "")

    def line(self, text):
        spans = []

        def keep(match):
            spans.append(match[0])
            return f"\0{len(spans) - 1}\0"

        def link(match):
            if match[1]:
                return match[0]
            target = self.target(match[3])
            return f"[{match[2]}]({target})" if target else match[2]

        text = LINK.sub(link, CODE.sub(keep, text))
        return re.sub("\0(\\d+)\0", lambda match: spans[int(match[1])], text)


def laid_out(lines, links):
    """With links that hold, a blank line before lists and tables (GitHub needs none), and anchors as on GitHub."""
    out, fenced, seen = [], False, {}
    for line in lines:
        if FENCE.match(line):
            fenced = not fenced
        if fenced or FENCE.match(line):
            out.append(line)
            continue
        heading = HEADING.match(line)
        begins = re.match(r"(\*|-|\d+\.) ", line) or line.startswith("|")
        if begins and out and out[-1].strip() and not re.match(r"\s*([*-]|\d+\.) |\||\s", out[-1]):
            out.append("")
        line = links.line(line)
        if heading:
            name = slug(heading[2])
            seen[name] = seen.get(name, -1) + 1
            line += f" {{: #{name}-{seen[name]} }}" if seen[name] else f" {{: #{name} }}"
        # Nested items have two spaces here; the generator wants four.
        out.append(re.sub(r"^((?:  )+)(?=[*-] )", lambda match: match[1] * 2, line))
    return "\n".join(out) + "\n"


def settings(root):
    """The page of kakehashi.conf: a table for each of its parts."""
    out = ["# Settings", "", "Of the endpoint's file, `key = value` a line. Unknown keys are refused. Options of `kakehashi start` come before the file."]
    out += ["Sizes take B, kB, MB, GB, TB (powers of 1024); times take ns, us, ms, s, min, h, d.", ""]
    table = False
    text = (root / "ipc-endpoint/server/src/main/dist/kakehashi.conf").read_text(encoding="utf-8")
    for line in text.splitlines():
        entry = re.match(r"#(\w+) = *(.*?) *(?:# (.*))?$", line)
        more = re.match(r" +# (.*)$", line)
        if entry:
            if not table:
                out += ["", "| setting | default | meaning |", "|---|---|---|"]
            table = True
            default = f"`{entry[2]}`" if entry[2] else "empty"
            out.append(f"| `{entry[1]}` | {default} | {cell(entry[3] or '')} |")
        elif more and table:
            out[-1] = out[-1].removesuffix(" |") + " " + cell(more[1]) + " |"
        elif line.startswith("# ") and out and not line.startswith(("# Settings", "# Sizes", "# change", '# "kake')):
            table = False
            title, _, rest = line[2:].partition(":")
            out += ["", f"## {re.sub(r' [(].*', '', title)}", ""] + ([rest.strip()[0].upper() + rest.strip()[1:]] if rest.strip() else [])
    return "\n".join(out) + "\n"


def copy_images(folder, text, target):
    """The pictures of a document, beside its page as they are beside the document."""
    for image in (match[3] for match in LINK.finditer(text) if match[1]):
        (target / image).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / image, target / image)


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def errors(root):
    out = ["# Error codes", "", "Each error has one SQLSTATE. The name is that of the Java client. `retry` says whether the same request may succeed when it is repeated.", ""]
    out += ["| SQLSTATE | name | class | retry |", "|---|---|---|---|"]
    rows = []
    for line in (root / "ipc-endpoint/protocol/schema/errors.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, state, kind, retry = line.split()[:5]
            rows.append((state, name, kind, retry))
    out += [f"| `{state}` | `{name}` | {kind} | {retry} |" for state, name, kind, retry in sorted(rows)]
    return "\n".join(out) + "\n"


def resolved(document, value):
    while isinstance(value, dict) and "$ref" in value:
        target = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        value = target
    return value


def routes(code):
    document = json.loads((code / "openapi.json").read_text(encoding="utf-8"))
    out = ["# HTTP routes", "", "Made of the description that the endpoint gives at `/v1/openapi.json`.", ""]
    for path, methods in document["paths"].items():
        shared = methods.get("parameters", [])
        for method, operation in methods.items():
            if method not in ("get", "put", "post", "delete", "patch", "head"):
                continue
            out += [f"## `{method.upper()} {path}`", "", cell(operation.get("summary", "")), ""]
            if operation.get("description"):
                out += [cell(operation["description"]), ""]
            parameters = [resolved(document, each) for each in shared + operation.get("parameters", [])]
            if parameters:
                out += ["| parameter | in | meaning |", "|---|---|---|"]
                out += [f"| `{each['name']}` | {each['in']} | {cell(' '.join(each.get('description', '').split()))} |" for each in parameters] + [""]
            answers = operation.get("responses", {})
            if answers:
                out += ["| status | answer |", "|---|---|"]
                out += [f"| {status} | {cell(' '.join(resolved(document, each).get('description', '').split()))} |" for status, each in answers.items()] + [""]
    return "\n".join(out) + "\n"


def main(root, code, target):
    root, code, target = pathlib.Path(root).resolve(), pathlib.Path(code), pathlib.Path(target)
    known = pages(root)
    readme = (root / "README.md").read_text(encoding="utf-8").splitlines()
    cookbook = {slug(found[2]) for found in map(HEADING.match, section(readme, "cookbook")) if found}
    for (document, anchor), page in known.items():
        lines = (root / document).read_text(encoding="utf-8").splitlines()
        if anchor:
            lines = section(lines, anchor)
        copy_images((root / document).parent, "\n".join(lines), target)
        (target / page).write_text(laid_out(lines, Links(root, document, anchor, known, cookbook)), encoding="utf-8")
    (target / "settings.md").write_text(settings(root), encoding="utf-8")
    (target / "errors.md").write_text(errors(root), encoding="utf-8")
    (target / "routes.md").write_text(routes(code), encoding="utf-8")
    for name in ("commands.md", "catalogue.md"):
        shutil.copy(code / name, target / name)


if __name__ == "__main__":
    main(*sys.argv[1:])
