# SPDX-License-Identifier: GPL-2.0
"""make paper: the papers' tables under virtual time.

Under virtual time the processor is infinitely fast: all that takes time is
the network, flash and disk, and what the programs sleep for their computing.
The tables are those of the FAMILIES; tables/units.py says what one is.  Here one
unit of them is measured, inside the lab's kernel.
"""
import pathlib

from tables import between, dmio, fairness, lab, latency, library, load, markatos, nswap, \
    others, outside, prefetch, queue, quicksorts, quietest, ranks, reads, shorter, slides, today
from nswaptest.modelled import loaded
from tables.workload import Run

NODES = 2

FAMILIES = (
    nswap,
    ranks,
    prefetch,
    reads,
    dmio,
    queue,
    others,
    quicksorts,
    outside,
    markatos,
    library,
    load,
    fairness,
    quietest,
    between,
    today,
    shorter,
    slides,
    latency,
)

MEASURES = {what: measure for family in FAMILIES
            for what, measure in family.MEASURES.items()}
TABLES = {ident: table for family in FAMILIES
          for ident, table in family.TABLES.items()}
PAPERS = {ident: paper for family in FAMILIES
          for ident, paper in family.PAPERS.items()}
# The figure that a table is a panel of, if there is one; N-F2 is one of its own, and
# N-T7-runs has a unit for each column.
FIGURES = {ident: "paper-" + family.__name__.rpartition(".")[2] for family in FAMILIES
           if family is not fairness for ident in family.PAPERS
           if ident not in ("N-F2", "N-T7-runs", *getattr(family, "UNDRAWN", ()))}


def nodes(options):
    """How many nodes a unit needs."""
    return next((family.NODES_OF[options.what](*options.args) for family in (load, fairness)
                 if options.what in family.NODES_OF), NODES)


def run(cluster, options, _about, folder):
    """Measure one unit; what it found, as the only row."""
    this = Run(cluster, options.mb, folder, options.seed)
    this.clock = pathlib.Path(options.model).with_name("free_clock.ko")
    lab.ethernet(cluster)
    with loaded(options.model), \
            lab.disk_of(this.scale.device) as (
                this.disk_model, this.disk, this.files):
        return [MEASURES[options.what](this, *options.args)]
