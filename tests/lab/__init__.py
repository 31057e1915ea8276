# SPDX-License-Identifier: GPL-2.0
"""The lab: the user-mode kernel and how it is built and booted."""
