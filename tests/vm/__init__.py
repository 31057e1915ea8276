# SPDX-License-Identifier: GPL-2.0
"""The vm lab: separate stock kernels under QEMU (see cluster.py)."""
