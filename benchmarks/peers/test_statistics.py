"""Correlations, intervals and tests, compared with SciPy and sacreBLEU."""
from conftest import EVERY, go_test, script


def test_scipy(tmp_path):
    vectors = tmp_path / "scipy.json"
    script("scipy_check.py", vectors)
    go_test("./benchmarks/correlate", "TestSciPyVectors", REFRACT_SCIPY_VECTORS=vectors)


def test_krippendorff(tmp_path):
    vectors = tmp_path / "alpha.json"
    script("krippendorff_check.py", vectors)
    go_test("./benchmarks/correlate", "TestKrippendorffVectors", REFRACT_KRIPPENDORFF_VECTORS=vectors)


def test_ppi(tmp_path):
    vectors = tmp_path / "ppi.json"
    script("ppi_check.py", vectors)
    go_test("./benchmarks/significance", "TestLikePPIPy", REFRACT_PPI_VECTORS=vectors)


def test_wmt22(refract, data):
    script("wmt22_check.py", refract, data, "--every", 25 * EVERY)


def test_paired_tests_of_systems(refract, maybe_data):
    script("systems_check.py", refract, "--ter", 250 // EVERY, *maybe_data)
