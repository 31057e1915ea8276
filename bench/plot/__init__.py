# SPDX-License-Identifier: GPL-2.0
"""Figures from results."""
