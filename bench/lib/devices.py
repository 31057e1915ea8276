# SPDX-License-Identifier: GPL-2.0
"""The devices that are measured beside one another, set up in the lab.

Each has the same size. nswap, NVMe/TCP and nbd keep their pages on the server
node behind the same link: nswap in the server's Nswap Cache, the others on a RAM
disk there. zram, the RAM disk, and modelled flash and disk are on the client.

A device offers: name, open() -> path, close(), served() -> pages the peer has
(loaded, stored) so far by its own counters, or None if it has no such counter.
"""
import contextlib
import pathlib
import re

from tables import profiles
from nswaptest import nvme
from nswaptest.check import Failure, wait_for
from nswaptest.modelled import Modelled, loaded

DISCARD = ("blkdiscard", "-f")


class Device:
    """What all devices have; mb is the size, kernel the lab kernel's folder."""

    name = ""

    def __init__(self, client, server, mb, kernel):
        self.client, self.server = client, server
        self.mb, self.kernel = mb, kernel
        self.path = None

    def open(self):
        """Set the device up; its path."""
        raise NotImplementedError

    def close(self):
        """Take it down again."""

    def served(self):
        """(pages loaded, pages stored) by the peer's own counters."""
        return None

    def messages(self):
        """The client's own message counters, a dict, or None."""
        return None


def ram_disk(index, mb):
    """The path of RAM disk number index, checked to be large enough."""
    path = f"/dev/ram{index}"
    size = int(pathlib.Path(f"/sys/block/ram{index}/size").read_text()) >> 11
    if size < mb:
        raise Failure(f"{path} has {size} MiB, {mb} are needed: "
                      f"boot with brd.rd_size={mb << 10}")
    return path


class Brd(Device):
    """The RAM disk itself, on the client: the limit for all others."""

    name = "brd"

    def open(self):
        return ram_disk(0, self.mb)

    def close(self):
        self.client.run([*DISCARD, "/dev/ram0"], check=False)


class Zram(Device):
    """Compressed RAM on the client."""

    name = "zram"
    modules = ("mm/zsmalloc.ko", "drivers/block/zram/zram.ko")

    def open(self):
        if not pathlib.Path("/sys/block/zram0").exists():
            for module in self.modules:
                path = pathlib.Path(self.kernel) / module
                if path.exists():
                    self.client.run(["insmod", path], check=False)
        pathlib.Path("/sys/block/zram0/disksize").write_text(f"{self.mb}M")
        return "/dev/zram0"

    def close(self):
        pathlib.Path("/sys/block/zram0/reset").write_text("1")


class Flash(Device):
    """Flash as old as the Nswap2L paper's, modelled; the driver is loaded."""

    name = kind = "flash"
    knobs = profiles.FLASH
    model = None

    def open(self):
        self.model = Modelled(f"bench-{self.name}", self.kind, mb=self.mb,
                              **self.knobs)
        return self.model.path

    def close(self):
        self.model.remove()


class Ssd(Flash):
    """Flash of 2026, likewise."""

    name = "ssd"
    knobs = profiles.NOW.flash


class Disk(Flash):
    """A disk of 7 200 rpm, likewise."""

    name = kind = "disk"
    knobs = profiles.DISK


class NvmeTcp(Device):
    """The kernel's NVMe/TCP to the kernel's target on a RAM disk."""

    name = "nvme-tcp"
    nqn = "nswap-bench"
    config = "/run/bench-configfs"

    # The target listens in the namespace of the task that writes the last link.
    up = """set -e
        mkdir -p {config}
        mountpoint -q {config} || mount -t configfs none {config}
        cd {config}/nvmet
        mkdir subsystems/{nqn} subsystems/{nqn}/namespaces/1
        echo 1 > subsystems/{nqn}/attr_allow_any_host
        echo {disk} > subsystems/{nqn}/namespaces/1/device_path
        echo 1 > subsystems/{nqn}/namespaces/1/enable
        mkdir ports/1
        echo tcp > ports/1/addr_trtype
        echo ipv4 > ports/1/addr_adrfam
        echo {addr} > ports/1/addr_traddr
        echo 4420 > ports/1/addr_trsvcid
        ln -s {config}/nvmet/subsystems/{nqn} ports/1/subsystems/{nqn}
        """
    down = """cd {config}/nvmet || exit 0
        rm -f ports/1/subsystems/{nqn}
        rmdir ports/1
        echo 0 > subsystems/{nqn}/namespaces/1/enable
        rmdir subsystems/{nqn}/namespaces/1 subsystems/{nqn}
        """

    def disk(self):
        """The path of what the target has its pages on."""
        return ram_disk(1, self.mb)

    def open(self):
        disk = self.disk()
        self.server.run(self.up.format(config=self.config, nqn=self.nqn,
                                       disk=disk, addr=self.server.addr))
        return nvme.connect(self.client, self.server.addr, self.nqn)

    def close(self):
        nvme.disconnect(self.client)
        self.server.run(self.down.format(config=self.config, nqn=self.nqn),
                        check=False)
        self.empty()

    def empty(self):
        """Give the disk's memory back."""
        self.server.run([*DISCARD, "/dev/ram1"], check=False)


class Nbd(Device):
    """nbd-client to nbd-server on a RAM disk."""

    name = "nbd"
    process = None

    def open(self):
        disk = ram_disk(2, self.mb)
        conf = "/run/bench-nbd.conf"
        pathlib.Path(conf).write_text(
            "[generic]\nuser = root\ngroup = root\n"
            f"listenaddr = {self.server.addr}\nport = 10809\n"
            f"[bench]\nexportname = {disk}\nflush = false\n")
        self.process = self.server.popen(["nbd-server", "-d", "-C", conf,
                                          "-p", "/run/bench-nbd.pid"])
        wait_for(self._listens, 10, "nbd-server listens")
        self.client.run(["nbd-client", "-L", "-N", "bench", self.server.addr,
                         "10809", "/dev/nbd0", "-b", "4096"])
        return wait_for(lambda: self._size() and "/dev/nbd0", 10,
                        "/dev/nbd0 has a size")

    def _listens(self):
        # 0x2A39 is port 10809, state 0A is listening.
        table = self.server.run(["cat", "/proc/net/tcp"]).out
        return re.search(r":2A39 \S+ 0A", table)

    @staticmethod
    def _size():
        return int(pathlib.Path("/sys/block/nbd0/size").read_text())

    def close(self):
        self.client.run(["nbd-client", "-L", "-d", "/dev/nbd0"], check=False)
        if self.process:
            self.process.kill()
            self.process.wait(10)
        self.server.run([*DISCARD, "/dev/ram2"], check=False)


class Nswap(Device):
    """nswap with one listed peer that lends enough for the whole device."""

    name = "nswap"

    def open(self):
        self.server.up(lend=f"{self.mb + 16}M", peers=[self.client],
                       no_broadcast=True)
        self.client.up(lend="0", peers=[self.server], no_broadcast=True)
        wait_for(lambda: self._peer("free_pages", 0) >= self.mb << 8, 30,
                 "the peer offers its room")
        self.dev = self.client.device_add(f"{self.mb}M")
        wait_for(lambda: self._peer("state", "") == "up", 30,
                 "the peer is connected")
        return f"/dev/{self.dev}"

    def _peer(self, what, otherwise):
        return self.client.peers().get(self.server.addr, {}).get(what,
                                                                 otherwise)

    def served(self):
        server = self.server.stat()["server"]
        return server["pages_loaded"], server["pages_stored"]

    def messages(self):
        return self.client.stat()["client"]

    def close(self):
        self.client.device_del(self.dev)
        self.client.down()
        self.server.down()


@contextlib.contextmanager
def opened(names, client, server, mb, kernel, model=None):
    """All the named devices set up: {name: device}, taken down at the end. model: the
    module of those that are MODELLED."""
    with contextlib.ExitStack() as stack:
        if set(names) & set(MODELLED):
            stack.enter_context(loaded(model))
        ready = {}
        for name in names:
            device = ALL[name](client, server, mb, kernel)
            device.path = device.open()
            stack.callback(device.close)
            ready[name] = device
        yield ready


ALL = {cls.name: cls for cls in (Nswap, NvmeTcp, Nbd, Zram, Brd, Flash,
                                  Ssd, Disk)}
MODELLED = (Flash.name, Ssd.name, Disk.name)
