"""Shared by the comparisons: the program, the data, and Go tests that read vectors."""
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


EVERY = int(os.environ.get("REFRACT_EVERY", 5))


@pytest.fixture(scope="session")
def refract():
    """The path of the program."""
    return pathlib.Path(os.environ["REFRACT_PROGRAM"])


DATA = pathlib.Path(os.environ.get("REFRACT_DATA") or ROOT.parent / "shared" / "data").resolve()
HAS_DATA = (DATA / "mt-metrics-eval-v2" / "wmt22").is_dir()


@pytest.fixture(scope="session")
def data():
    """The folder of real data."""
    if not HAS_DATA:
        pytest.skip(f"no real data at {DATA}; set REFRACT_DATA")
    return DATA


@pytest.fixture(scope="session")
def maybe_data():
    """The arguments that give a script the real data, if there is any."""
    return ["--data", DATA] if HAS_DATA else []


@pytest.fixture(scope="session")
def seed():
    return os.environ.get("REFRACT_SEED", "1")


def run(*command, **environment):
    """Runs a command in the repository's root, and returns what it prints."""
    done = subprocess.run([str(c) for c in command], cwd=ROOT, env={**os.environ, **{k: str(v) for k, v in environment.items()}},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))} exits with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}", pytrace=False)
    return done.stdout


def script(name, *args, **environment):
    """Runs a script of this folder."""
    return run(sys.executable, HERE / name, *args, **environment)


def go_test(packages, name, **environment):
    """Runs Go tests, which read the vectors that the environment names, and checks that
    one ran and none was skipped."""
    out = run("go", "test", "-count=1", "-v", "-run", name, *packages.split(), **environment)
    assert "--- PASS" in out and "--- SKIP" not in out, out[-4000:]
