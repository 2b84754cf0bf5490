"""Makes empty CUDA libraries, with which PyPI's PyTorch runs on a CPU without NVIDIA's 3 GB.

usage: cuda_stubs.py SITE_PACKAGES/torch FOLDER      (then LD_LIBRARY_PATH=FOLDER)

Every function answers that there is no device. It needs gcc, nm and readelf.
"""

import collections
import glob
import os
import re
import subprocess
import sys

VENDOR = re.compile(r"lib(cu|nccl|nvrtc|nvshmem|nvJitLink|cupti)")
PREFIX = re.compile(r"(cu|nccl|nvrtc|nvshmem|nvml|nvtx|cupti)")
NO_DEVICE = "int %s(void) { return 100; }\n"
SPECIAL = {  # called before PyTorch asks for a device
    "cudaStreamIsCapturing": "int %s(void *stream, int *status) { *status = 0; return 0; }\n",
    "cudaGetErrorString": 'const char *%s(void) { return "no CUDA"; }\n',
    "cudaGetErrorName": 'const char *%s(void) { return "no CUDA"; }\n',
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    torch, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    libraries = glob.glob(torch + "/lib/*.so*") + glob.glob(torch + "/_C*.so")
    own = {os.path.basename(x) for x in libraries}
    needed, origin, wanted, defined = set(), {}, set(), set()
    for library in libraries:
        needed |= {n for n in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", library))
                   if n not in own and VENDOR.match(n) and not n.startswith("libcuda.so")}
        for file, versions in re.findall(r"File: (\S+)  Cnt: \d+\n((?:.*Name: .*\n)*)", output("readelf", "-VW", library)):
            origin |= {v: file for v in re.findall(r"Name: (\S+)", versions)}
        for line in output("nm", "-D", library).splitlines():
            kind, symbol = line.split()[-2:]
            (wanted if kind in "Uwv" else defined).add(symbol)
    defined = {s.split("@")[0] for s in defined}
    symbols = collections.defaultdict(lambda: collections.defaultdict(set))
    for symbol in wanted:
        name, _, version = symbol.partition("@")
        version = version.lstrip("@")
        library = origin.get(version)
        if library in needed:
            symbols[library][version].add(name)
        elif not version and name not in defined and PREFIX.match(name):
            symbols[min(needed)][""].add(name)  # any library will do
    for library in sorted(needed):
        source, script = f"{folder}/stub.c", f"{folder}/stub.map"
        names = {n for group in symbols[library].values() for n in group}
        with open(source, "w") as f:
            f.writelines(SPECIAL.get(n, NO_DEVICE) % n for n in sorted(names))
        with open(script, "w") as f:
            for version, group in symbols[library].items():
                if version:
                    f.write(f"{version} {{ global: {'; '.join(sorted(group))}; }};\n")
        versions = [f"-Wl,--version-script={script}"] if os.path.getsize(script) else []
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", "-o", f"{folder}/{library}", source,
                        "-Wl,-soname," + library, *versions], check=True)
        os.unlink(source), os.unlink(script)


if __name__ == "__main__":
    main()
