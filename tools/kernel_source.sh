#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Print the folder of the lab kernel's source, where checkpatch, kernel-doc
# and the netlink generator come from. Downloads it at first.
set -euo pipefail
cd "$(dirname "$0")/.."

tree=$(tests/lab/build_kernel.sh plain)
readlink -f "$tree/source"
