# SPDX-License-Identifier: GPL-2.0
"""Spin as tests use it: every state of a model, and rules taken away."""
import re
import subprocess

from nswaptest.check import Failure, at_least, true
from nswaptest.scenario import ROOT

MODELS = ROOT / "tests/model"


def _build(folder, model, options, optimise):
    """Make the checker of one configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    defines = [f"-D{o}" for o in options.split()]
    for command in (["spin", "-a", *defines, str(MODELS / model)],
                    ["gcc", optimise, "-DSAFETY", "-DCOLLAPSE", "-DNOREDUCE",
                     "-DMEMLIM=3500", "-o", "pan", "pan.c"]):
        done = subprocess.run(command, cwd=folder, capture_output=True,
                              text=True, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Failure(f"{' '.join(command[:2])}: exit code "
                          f"{done.returncode}: {done.stdout}{done.stderr}")


def _check(t, model, name, options, optimise):
    """Run the checker: (errors, states, its whole text)."""
    folder = t.dir / name
    _build(folder, model, options, optimise)
    done = subprocess.run(["nice", "-n", "10", "./pan", "-n", "-m1000000"],
                          cwd=folder, capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    text = done.stdout + done.stderr
    (folder / "output").write_text(text)
    errors = re.search(r"errors: (\d+)", text)
    states = re.search(r"(\d+) states, stored", text)
    true(errors and states, f"{name}: no result, see {folder}/output")
    true("max search depth too small" not in text and
         "out of memory" not in text and
         (int(errors[1]) or "Search not completed" not in text),
         f"{name}: not searched to the end, see {folder}/output")
    t.log(f"{name}: {options}: {errors[1]} errors, {states[1]} states")
    return int(errors[1]), int(states[1]), text


def search(t, model, configurations, states_at_least=1000, optimise="-O1"):
    """Every configuration, every state, no error; optimise: pays off for many states."""
    for name, options in configurations.items():
        errors, states, text = _check(t, model, name, options, optimise)
        wrong = re.search(r"pan:1: (.*)", text)
        at_least(states, states_at_least, f"{name}: states")
        t.sub(name, not errors, wrong[1] if wrong else "")


def noticed(t, model, configurations):
    """Every configuration fails, by an assertion of the model."""
    for name, options in configurations.items():
        errors, _, text = _check(t, model, name, options, "-O0")
        wrong = re.search(r"pan:1: (.*)", text)
        fails = bool(errors) and "assertion violated" in wrong[1] and \
            "invalid array index" not in wrong[1]
        t.sub(name, fails, "" if fails else f"the model does not notice: "
              f"{wrong[1] if wrong else 'no error'}")


def mutate(t, model, mutations):
    """Each rule taken away is noticed."""
    noticed(t, model, {f"without_{name.lower()}": f"{options} MUT_{name}"
                       for name, options in mutations.items()})
