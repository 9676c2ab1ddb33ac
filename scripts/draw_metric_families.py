#!/usr/bin/env python3
"""Draws docs/images/metrics-*.svg: what the numbers of each family of metrics look at."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH, HEIGHT = 560, 190
INK, FAINT, BLUE, ORANGE, LIGHT = "#333", "#999", "#2b6cb0", "#c05621", "#bcd3ea"


def text(x, y, words, colour=INK, size=12, anchor="start"):
    return f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


def line(points, colour, width=2, dashes=""):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def box(x, y, width, height, fill, stroke="none"):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" stroke="{stroke}"/>'


def axes(x, y, width, height, below, beside):
    return [line([(x, y), (x, y + height), (x + width, y + height)], FAINT, 1),
            text(x + width / 2, y + height + 18, below, FAINT, 11, "middle"),
            text(x, y - 6, beside, FAINT, 11)]


def faithfulness():
    def curve(x, y, width, height, numbers):
        return [(x + width * i / (len(numbers) - 1), y + height * (1 - one)) for i, one in enumerate(numbers)]

    parts = []
    hidden = [("ranking", BLUE, [.95, .55, .3, .2, .15, .1]), ("random", FAINT, [.95, .88, .76, .58, .36, .1])]
    shown = [("ranking", BLUE, [.1, .62, .8, .88, .92, .95]), ("random", FAINT, [.1, .2, .38, .58, .78, .95])]
    for left, below, curves in ((20, "units hidden, the highest first", hidden), (300, "units shown, the highest first", shown)):
        parts += axes(left, 30, 230, 110, below, "answer")
        area = curve(left, 30, 230, 110, curves[0][2])
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in [(left, 140), *area, (left + 230, 140)])
        parts.append(f'<polygon points="{corners}" fill="{LIGHT}" opacity="0.6"/>')
        for name, colour, numbers in curves:
            points = curve(left, 30, 230, 110, numbers)
            parts.append(line(points, colour, 2, "" if name == "ranking" else "4 3"))
            beside = 18 if numbers[0] < numbers[-1] else -6
            parts.append(text(points[2][0] + 6, points[2][1] + beside, name, colour, 11))
    return parts


def bars(left, numbers, colour, title):
    parts = [*axes(left, 30, 150, 110, title, "score")]
    for i, one in enumerate(numbers):
        parts.append(box(left + 8 + 23 * i, 140 - 100 * one, 16, 100 * one, colour))
    return parts


def robustness():
    return (bars(20, [.2, .9, .35, .6, .1, .25], BLUE, "the input") +
            bars(205, [.25, .85, .3, .65, .12, .2], BLUE, "with small noise: stable") +
            bars(390, [.7, .2, .55, .15, .6, .4], ORANGE, "with small noise: unstable"))


def complexity():
    return (bars(60, [.02, .95, .03, .3, .02, .02], BLUE, "few units: sparse") +
            bars(330, [.5, .62, .48, .55, .52, .45], ORANGE, "all units: complex"))


def localisation():
    heat = [[0, 0, 1, 0, 0, 0], [0, 2, 4, 3, 0, 0], [0, 3, 5, 4, 1, 0], [0, 1, 3, 2, 0, 3]]
    shades = ["#fff", "#e6eef7", "#bcd3ea", "#86afda", "#4d86c3", "#2b6cb0"]
    parts = []
    for left in (20, 330):
        for row, cells in enumerate(heat):
            for column, one in enumerate(cells):
                parts.append(box(left + 34 * column, 20 + 34 * row, 34, 34, shades[one], "#ddd"))
        parts.append(box(left + 34, 54, 102, 102, "none", ORANGE).replace("/>", ' stroke-width="3"/>'))
    parts.append(f'<circle cx="{20 + 34 * 2 + 17}" cy="{20 + 34 * 2 + 17}" r="9" fill="none" stroke="#fff" stroke-width="3"/>')
    parts.append(text(20 + 102, 178, "the highest score: inside or not", FAINT, 11, "middle"))
    for row, cells in enumerate(heat):
        for column, one in enumerate(cells):
            if one > 1:
                parts.append(text(330 + 34 * column + 17, 20 + 34 * row + 22, "×", INK, 14, "middle"))
    parts.append(text(330 + 102, 178, "cells above the mean (×) and the region", FAINT, 11, "middle"))
    return parts


for name, draw in (("faithfulness", faithfulness), ("robustness", robustness), ("complexity", complexity),
                   ("localisation", localisation)):
    body = "\n".join(draw())
    (FOLDER / f"metrics-{name}.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif">\n{box(0, 0, WIDTH, HEIGHT, "#fff")}\n{body}\n</svg>\n')
