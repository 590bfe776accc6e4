#!/usr/bin/env python3
"""pgwire_table.py REPORTS LISTED: a table of surefire's reports of a run over the engine "pgwire".

One line for each class: tests that passed, that failed, that were left out, and what these need. Ends with 1 if one has failed, or, with LISTED = yes, if one has passed.
"""

import collections
import pathlib
import sys
import xml.etree.ElementTree as xml


def rows(reports):
    """Class, and its tests by what became of them: "passed", "failed", or the need of those that were left out."""
    for report in sorted(pathlib.Path(reports).glob("TEST-*.xml")):
        outcomes = collections.Counter()
        names = collections.defaultdict(list)
        for case in xml.parse(report).getroot().iter("testcase"):
            skipped = case.find("skipped")
            if skipped is not None:
                outcome = (skipped.get("message") or "").removeprefix("needs ")
            elif case.find("failure") is not None or case.find("error") is not None:
                outcome = "failed"
            else:
                outcome = "passed"
            outcomes[outcome] += 1
            names[outcome].append(case.get("name"))
        if set(outcomes) != {"is not listed"}:
            yield report.stem.removeprefix("TEST-").rsplit(".", 1)[-1], outcomes, names


def main(reports, listed):
    totals = collections.Counter()
    wrong = []
    print(f"{'class':34} {'passed':>6} {'failed':>6} {'left out':>8}  needs")
    for name, outcomes, names in rows(reports):
        needs = sorted(set(outcomes) - {"passed", "failed"})
        left_out = sum(outcomes[need] for need in needs)
        print(f"{name:34} {outcomes['passed']:6} {outcomes['failed']:6} {left_out or '':>8}  {', '.join(needs)}".rstrip())
        totals.update({"passed": outcomes["passed"], "failed": outcomes["failed"], "left out": left_out})
        wrong += [f"{name}.{test}" for test in names["passed" if listed else "failed"]]
    print(f"{'all':34} {totals['passed']:6} {totals['failed']:6} {totals['left out']:8}")
    for test in wrong:
        print("passed, and is listed:" if listed else "failed:", test)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] == "yes"))
