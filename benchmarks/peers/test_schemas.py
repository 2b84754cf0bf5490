"""Deployment files, checked against their schemas."""
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT, script

MANIFESTS = sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))


def test_openapi(refract):
    script("serve_check.py", refract)


def validate(*args):
    program = pathlib.Path(sys.executable).parent / "kubernetes-validate"
    return subprocess.run([program, "--strict", "--quiet", *args], capture_output=True, text=True)


@pytest.mark.parametrize("release", ["1.29", "1.33", "1.37"])  # backoffLimitPerIndex is on by default from 1.29
def test_kubernetes(release):
    done = validate("--kubernetes-version", release, *MANIFESTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_kubernetes_refuses_unknown_fields(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text((ROOT / "deploy" / "kubernetes" / "expand.yaml").read_text().replace("completionMode: Indexed", "completionMod: Indexed"))
    assert validate(wrong).returncode != 0
