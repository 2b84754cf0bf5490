#!/usr/bin/env python3
"""Speaks the protocol of `refract serve` with faults; the metric's name says which."""

import json
import os
import sys
import time

if os.environ.get("FAKE_HELLO") == "none":
    sys.exit("cannot start: no such flag")
hello = {"refract": int(os.environ.get("FAKE_HELLO", "1")), "version": "9", "line": 4096, "pending": 4}
print(json.dumps(hello), flush=True)
hanging = {}
for line in sys.stdin:
    request = json.loads(line)
    number, params = request["id"], request["params"]
    answer = {"id": number}
    if request["method"] == "cancel":
        there = hanging.pop(params["id"], None)
        if there is not None:
            print(json.dumps({"id": params["id"], "error": {"code": "cancelled", "message": "cancelled"}}))
        answer["result"] = {"cancelled": there is not None}
    else:
        fault = params["metrics"][0]
        if fault == "hang":
            hanging[number] = True
            continue
        if fault == "die":
            print("panic: it is over", file=sys.stderr, flush=True)
            os._exit(3)
        if fault == "garbage":
            print("not JSON", flush=True)
            continue
        if fault == "close":  # its output, but keep running
            sys.stdout.flush()
            os.close(1)
            time.sleep(600)
        if fault == "usage":
            answer["error"] = {"code": "usage", "message": "there is none of this name"}
        elif fault == "failed":
            answer["error"] = {"code": "failed", "message": "the disk is full"}
        else:
            n = len(params["segments"])
            systems = list(params["segments"][0]["hypotheses"])
            answer["result"] = {
                "settings": [
                    {
                        "metric": "fake",
                        "aggregator": "max",
                        "signature": f"cancelled:{len(hanging)}|pid:{os.getpid()}",
                        "direction": "higher",
                        "systems": {
                            s: {"score": 1.5, "method": "average", "segments": n, "scored": n} for s in systems
                        },
                        "segments": {s: [1.5] * n for s in systems},
                    }
                ]
            }
    print(json.dumps(answer), flush=True)
