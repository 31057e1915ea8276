# SPDX-License-Identifier: GPL-2.0
"""The test harness: a small cluster API, two back ends and a runner."""
