#!/usr/bin/env python3
"""Checks that sacreBLEU's own command, given the text files of a published folder, computes the scores that
Refract computes from the folder.

usage: sacrebleu_files.py REFRACT FOLDER SYSTEM.txt
"""
import json
import os
import subprocess
import sys

refract, folder, system = sys.argv[1:4]
refs = sorted((f for f in os.listdir(folder) if f.startswith("ref.")), key=lambda f: int(f[4:]))
paths = [os.path.join(folder, f) for f in refs]
sacrebleu = os.path.join(os.path.dirname(sys.executable), "sacrebleu")
ours = json.loads(subprocess.check_output(
    [refract, "score", "published:" + folder, "--hyp", "s=" + system, "-m", "bleu", "-m", "chrf", "-m", "ter", "-a", "native", "-f", "json"]))
for row in ours:
    theirs = json.loads(subprocess.check_output(
        [sacrebleu, *paths, "-i", system, "-m", row["metric"], "-w", "9", "-f", "json"], stderr=subprocess.DEVNULL))
    if abs(theirs["score"] - row["score"]) > 1e-6:
        sys.exit(f"{row['metric']}: sacreBLEU {theirs['score']}, Refract {row['score']}")
    if theirs["nrefs"] != str(row["references"]):
        sys.exit(f"sacreBLEU has {theirs['nrefs']} references, Refract {row['references']}")
    print(f"{row['metric']}, {len(refs)} references: {row['score']:.6f} both; {row['signature']}")
