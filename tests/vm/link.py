# SPDX-License-Identifier: GPL-2.0
"""The harness's side of the link between guests (switch.c is the link).

Invariant: one Link owns one switch process and is its only controller; the
process ends when the Link is closed or the harness dies.
"""
import json
import socket
import subprocess

from nswaptest.check import Failure

from . import image


class Link:
    """A switch with a port per guest."""

    def __init__(self, folder, ports):
        self.folder = folder
        self._switch = subprocess.Popen(
            [image.compiled("switch"), folder, str(ports)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if self._switch.stdout.readline() != b"ready\n":
            raise Failure("the switch between the guests did not start")
        self._control = socket.socket(socket.AF_UNIX)
        self._control.settimeout(10)
        self._control.connect(f"{folder}/control")
        self._answers = self._control.makefile("r")

    def _ask(self, text):
        self._control.sendall(text.encode() + b"\n")
        answer = self._answers.readline().strip()
        if not answer or answer.startswith("error"):
            raise Failure(f"the switch refused '{text}': {answer}")
        return answer

    def port(self, index):
        """What a guest's network card connects to: (path, MAC address)."""
        return f"{self.folder}/port{index}", f"52:54:00:77:00:{index + 1:02x}"

    def cut(self, a, b):
        """Drop everything between two ports."""
        self._ask(f"cut {a} {b}")

    def heal(self, a, b):
        """Undo cut."""
        self._ask(f"heal {a} {b}")

    def delay(self, a, b, us):
        """Hold everything between two ports for that many microseconds."""
        self._ask(f"delay {a} {b} {us}")

    def stat(self):
        """A dict of counters per port."""
        return json.loads(self._ask("stat"))

    def close(self):
        """End the switch."""
        self._control.close()
        self._switch.kill()
        self._switch.wait()
