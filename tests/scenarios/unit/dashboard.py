# SPDX-License-Identifier: GPL-2.0
"""The Grafana dashboard against the schema of Grafana's dashboards.

SHAPE is what of that schema (10.1, as the library grafana-foundation-sdk has it) the file
uses: names of members, their types, and the words they may have. A name that is not there
is one that Grafana would ignore.
"""
import copy
import json

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "the dashboard has no member, type or word that Grafana does not know"
SUITES = ("unit",)
NEEDS = ()
HERE = True
TIMEOUT = 30

SOURCE = {"type": ("prometheus",), "uid": ("${source}",)}
STEPS = [{"color": ("green", "orange", "red"), "value": (None, float, int)}]
FIELDS = {
    # ids of Grafana's units, or a text behind the number
    "unit": ("none", "bytes", "binBps", "s", "ops", "suffix:pages/s"),
    "min": int,
    "thresholds": {"mode": ("absolute", "percentage"), "steps": STEPS},
    "custom": {"fillOpacity": int, "showPoints": ("auto", "never", "always"),
               "stacking": {"mode": ("none", "normal", "percent")},
               "scaleDistribution": {"type": ("linear", "log"), "log": (2, 10)}},
}
OPTIONS = {
    "stat": {"reduceOptions": {"calcs": [("lastNotNull",)]},
             "colorMode": ("value", "background", "none"),
             "graphMode": ("none", "line", "area")},
    "timeseries": {"legend": {"displayMode": ("list", "table", "hidden"),
                              "placement": ("bottom", "right")},
                   "tooltip": {"mode": ("single", "multi", "none")}},
}
PANEL = {
    "id": int, "title": str, "type": tuple(OPTIONS), "description": str, "datasource": SOURCE,
    "gridPos": {"x": int, "y": int, "w": int, "h": int},
    "fieldConfig": {"defaults": FIELDS, "overrides": []},
    "targets": [{"refId": str, "datasource": SOURCE, "expr": str, "legendFormat": str,
                 "instant": bool}],
    "options": {},      # by its type
}
VARIABLE = {"name": str, "label": str, "type": ("datasource", "query"), "query": object,
            "hide": (0, 1, 2), "datasource": SOURCE, "refresh": (0, 1, 2), "includeAll": bool,
            "multi": bool, "sort": tuple(range(9)), "current": {"text": [str], "value": [str]}}
SHAPE = {
    "title": str, "uid": str, "tags": [str], "schemaVersion": int, "version": int,
    "editable": bool, "timezone": ("browser", "utc", ""), "refresh": str,
    "time": {"from": str, "to": str}, "annotations": {"list": []}, "links": [],
    "templating": {"list": [VARIABLE]}, "panels": [PANEL],
}
OPTIONAL = {"label", "hide", "refresh", "includeAll", "multi", "sort", "current", "datasource",
            "instant", "scaleDistribution", "thresholds", "custom", "min"}


def fits(value, shape):
    """Whether a single value is of a type, or one of the words."""
    if isinstance(shape, tuple):
        return value in shape or type(value) in shape
    return shape is object or type(value) is shape


def complaints(value, shape, where):
    """Sentences on what does not fit."""
    if isinstance(shape, list):
        if not isinstance(value, list) or (value and not shape):
            return [f"{where} is {value!r}, a list {'' if shape else 'without entries '}is due"]
        return [c for n, v in enumerate(value) for c in complaints(v, shape[0], f"{where}[{n}]")]
    if not isinstance(shape, dict):
        return [] if fits(value, shape) else [f"{where} cannot be {value!r}"]
    if not isinstance(value, dict):
        return [f"{where} is {value!r}, no object"]
    if where.endswith("]") and shape is PANEL:
        shape = shape | {"options": OPTIONS.get(value.get("type"), {})}
    said = [f"{where} has no member {name}" for name in value.keys() - shape.keys()]
    said += [f"{where} lacks {name}" for name in shape.keys() - value.keys() - OPTIONAL]
    return said + [c for name in value.keys() & shape.keys()
                   for c in complaints(value[name], shape[name], f"{where}.{name}")]


def damaged(board):
    """(what is to be said, a dashboard with that mistake)."""
    for said, path, value in (
            ("panels[0].options has no member colourMode", "options.colourMode", "value"),
            ("panels[0].options.colorMode cannot be", "options.colorMode", "loud"),
            ("panels[0].type cannot be 'statt'", "type", "statt"),
            ("panels[0].fieldConfig.defaults.unit cannot be", "fieldConfig.defaults.unit", "KB"),
            ("panels[0].gridPos.w cannot be '4'", "gridPos.w", "4"),
            ("panels[0].targets is {}", "targets", {}),
            ("panels[0] has no member heading", "heading", "x")):
        other = copy.deepcopy(board)
        *folders, name = path.split(".")
        at = other["panels"][0]
        for folder in folders:
            at = at[folder]
        at[name] = value
        yield said, other
    other = copy.deepcopy(board)
    del other["panels"][0]["gridPos"]
    yield "panels[0] lacks gridPos", other


def run(_):
    """The file fits, and each mistake that is made in it is found."""
    board = json.loads((ROOT / "dist/grafana/nswap.json").read_text(encoding="utf-8"))
    equal(complaints(board, SHAPE, "dashboard"), [], "what does not fit")
    for said, other in damaged(board):
        found = complaints(other, SHAPE, "dashboard")
        true(any(said in c for c in found), f"'{said}' was not found, but {found}")
    ids = [p["id"] for p in board["panels"]]
    equal(len(set(ids)), len(ids), "ids of panels")
