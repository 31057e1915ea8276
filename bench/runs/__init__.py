# SPDX-License-Identifier: GPL-2.0
"""Benchmarks, one file each: what bench/run measures inside the lab's kernel."""
