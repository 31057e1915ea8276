# SPDX-License-Identifier: GPL-2.0
"""The papers' tables: what bench/paper measures under virtual time."""
