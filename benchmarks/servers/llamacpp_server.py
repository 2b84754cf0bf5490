"""Run llama.cpp's own HTTP server on a free local port until it is killed.

Usage: llamacpp_server.py MODEL [NAME SLOTS TOKENS THREADS]

NAME is what clients call the model; each slot takes TOKENS of prompt and answer.
The first line on standard output is the base URL.
"""

import signal
import sys

import xllamacpp


def main(path, name="refract-tiny", slots=4, tokens=16384, threads=1):
    p = xllamacpp.CommonParams()
    p.model.path = path
    p.model_alias = {name}
    p.hostnames = ["127.0.0.1"]
    p.port = 0
    p.n_ctx = int(slots) * int(tokens)  # shared by the slots
    p.n_parallel = int(slots)
    p.n_threads_http = 80
    p.cpuparams.n_threads = int(threads)
    p.cpuparams_batch.n_threads = int(threads)
    p.cpuparams.poll = p.cpuparams_batch.poll = 0  # waiting threads leave the cores to others
    p.endpoint_slots = True
    p.endpoint_metrics = True
    p.warmup = False
    p.cache_ram_mib = 0  # a prompt's beginning is cached only in its slot
    server = xllamacpp.Server(p)
    print(server.listening_address + "/v1", flush=True)
    signal.pause()


main(*sys.argv[1:])
