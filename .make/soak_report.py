#!/usr/bin/env python3
"""Report of make soak HOURS=: what each sampled figure was in the second and in the last quarter, and a picture of all.

    soak_report.py SAMPLES.csv KILLS.csv PICTURE.svg

Prints a table of Markdown. A figure "grows" if its median in the last quarter is more than a tenth above that of the
second quarter: the first quarter is left out, because compilers and caches work then.
"""

import csv
import statistics
import sys

WIDTH, HEIGHT, LEFT, GAP = 900, 110, 150, 34
# Figures that grow with the rows that the load makes, and are expected to.
WITH_ROWS = {"data_bytes", "store_bytes", "tasks_made"}


def scaled(name, value):
    """A value in words, with its unit.

    >>> scaled("data_bytes", 3 * 1024 * 1024)
    '3.0 MB'
    >>> scaled("select_millis", 12.0)
    '12 ms'
    >>> scaled("endpoint_threads", 40.0)
    '40'
    """
    if name.endswith("_bytes"):
        return f"{value / 1048576:.1f} MB"
    return f"{value:.0f} ms" if name.endswith("_millis") else f"{value:.0f}"


def quarters(points, end):
    """Medians of the second and the last quarter, None where nothing was sampled.

    >>> quarters([(0, 1.0), (30, 2.0), (40, 4.0), (90, 8.0)], 100)
    (3.0, 8.0)
    """
    parts = [[v for t, v in points if low * end <= t < high * end] for low, high in ((0.25, 0.5), (0.75, 1.01))]
    return tuple(statistics.median(part) if part else None for part in parts)


def grows(before, after):
    """Whether a figure has grown by more than a tenth.

    >>> grows(10.0, 11.0), grows(10.0, 11.5)
    (False, True)
    """
    return before is not None and after is not None and after > before * 1.1


def picture(series, kills, end):
    """The series below each other over the time, kills as lines: SVG."""
    height = len(series) * (HEIGHT + GAP) + GAP
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for i, (name, points) in enumerate(series.items()):
        top = GAP + i * (HEIGHT + GAP)
        most = max((v for _, v in points), default=0) or 1
        x = lambda t: LEFT + WIDTH * t / end  # noqa: E731
        lines.append(f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#ccc"/>')
        lines += [f'<line x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{top}" y2="{top + HEIGHT}" stroke="#d88"/>' for t, _ in kills]
        path = " ".join(f"{x(t):.1f},{top + HEIGHT - HEIGHT * v / most:.1f}" for t, v in points)
        lines.append(f'<polyline points="{path}" fill="none" stroke="#036"/>')
        lines.append(f'<text x="{LEFT}" y="{top - 6}">{name.replace("_", " ")}</text>')
        lines.append(f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{scaled(name, most)}</text>')
        lines.append(f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end">0</text>')
    lines.append(f'<text x="{LEFT + WIDTH}" y="{height - 8}" text-anchor="end">{end / 3600:.2f} hours; lines are kills</text></svg>')
    return "\n".join(lines)


def main(samples_file, kills_file, picture_file):
    with open(samples_file, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(kills_file, newline="") as file:
        kills = [(int(t), victim) for t, victim in csv.reader(file)]
    if not rows:
        sys.exit("no samples")
    end = max(int(row["seconds"]) for row in rows) or 1
    series = {name: [(int(row["seconds"]), float(row[name])) for row in rows if row[name] not in ("", None)]
              for name in rows[0] if name != "seconds"}
    print("| figure | least | most | second quarter | last quarter | |")
    print("|---|---:|---:|---:|---:|---|")
    for name, points in series.items():
        if not points:
            print(f"| {name.replace('_', ' ')} | – | – | – | – | |")
            continue
        values = [v for _, v in points]
        before, after = quarters(points, end)
        word = "" if not grows(before, after) else "grows with the rows" if name in WITH_ROWS else "**grows**"
        cells = [scaled(name, v) if v is not None else "–" for v in (min(values), max(values), before, after)]
        print(f"| {name.replace('_', ' ')} | {' | '.join(cells)} | {word} |")
    with open(picture_file, "w") as file:
        file.write(picture(series, kills, end))


if __name__ == "__main__":
    main(*sys.argv[1:])
