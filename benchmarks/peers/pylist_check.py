#!/usr/bin/env python3
"""Checks that Python reads a file of Div-Ref's format as the JSON Lines say: each
line a list literal with the texts of the variants.

usage: pylist_check.py FILE.diversified FILE.jsonl
"""
import ast
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    lists = [ast.literal_eval(line) for line in f]
with open(sys.argv[2], encoding="utf-8", newline="\n") as f:
    want = [[v["text"] for v in json.loads(line).get("variants", [])] for line in f]
if lists != want:
    sys.exit("the lists and the JSON Lines differ")
print(f"{len(lists)} lists of {sum(map(len, lists))} texts equal")
