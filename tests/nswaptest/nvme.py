# SPDX-License-Identifier: GPL-2.0
"""NVMe over TCP, as a machine that uses a device of another one sees it."""
from .check import wait_for

HOST = "nqn.2014-08.org.nvmexpress:uuid:7b1d3c6e-52a1-4f0e-9a55-6c1c58f0a901"
HOST_ID = "7b1d3c6e-52a1-4f0e-9a55-6c1c58f0a901"


def options(addr, nqn, host=HOST, port=4420, **more):
    """What /dev/nvme-fabrics takes, and 'nvme connect' writes there."""
    words = {"transport": "tcp", "traddr": addr, "trsvcid": port, "nqn": nqn,
             "hostnqn": host, "hostid": HOST_ID, **more}
    return ",".join(f"{key}={value}" for key, value in words.items())


def disks(node):
    """The namespaces that have a size, by path."""
    # cat would read on where a size that has changed meanwhile goes on
    said = node.run("cd /sys/block && for d in nvme*n*; do [ -e $d/size ] && "
                    "read -r size < $d/size && echo $d $size; done; true").out
    return [f"/dev/{name}" for name, sectors in map(str.split, said.splitlines())
            if int(sectors) and "c" not in name[4:]]


def connect(node, addr, nqn, **more):
    """Connect a node; the path of the disk that appears."""
    return connect_by(node, f"printf '%s' '{options(addr, nqn, **more)}' > /dev/nvme-fabrics")


def connect_by(node, command):
    """The same by a command."""
    before = set(disks(node))
    node.run(command)
    return wait_for(lambda: set(disks(node)) - before, 20, "the NVMe/TCP disk appears").pop()


def disconnect(node):
    """Remove all its connections."""
    node.run("for c in /sys/class/nvme/nvme*/delete_controller; do "
             "[ -e $c ] && echo 1 > $c; done; true")
    wait_for(lambda: not disks(node), 20, "the NVMe/TCP disks are gone")
