# SPDX-License-Identifier: GPL-2.0
"""What benchmarks share: devices, programs, the boot and what is kept of it."""
