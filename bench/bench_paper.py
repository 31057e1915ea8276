# SPDX-License-Identifier: GPL-2.0
"""make paper: the papers' tables under virtual time, inside the lab's kernel.

Under virtual time the processor is infinitely fast: all that takes time is
the network, flash and disk, and what the programs sleep for their computing.
The tables are those of the FAMILIES; paper_run.py says what one is.
"""
import paper_lab as lab
import paper_nswap
import paper_others
import paper_prefetch
from nswaptest.modelled import loaded
from paper_run import Run

NODES = 2

FAMILIES = (
    paper_nswap,
    paper_prefetch,
    paper_others,
)

TABLES = {ident: table for family in FAMILIES
          for ident, table in family.TABLES.items()}
PAPERS = {ident: paper for family in FAMILIES
          for ident, paper in family.PAPERS.items()}
# The figure that a table is a panel of.
FIGURES = {ident: family.__name__.replace("_", "-") for family in FAMILIES
           for ident in family.PAPERS}


def run(cluster, options, about, folder):
    """Measure; the rows."""
    this = Run(cluster, options, about, folder)
    this.steps = sum(TABLES[name][1](this) for name in options.tables)
    lab.ethernet(cluster)
    with loaded(options.model), \
            lab.disk_of(this.scale.device) as (
                this.disk_model, this.disk, this.files):
        for name in options.tables:
            TABLES[name][0](this)
    return this.rows
