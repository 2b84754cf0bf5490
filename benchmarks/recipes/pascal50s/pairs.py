"""Makes data/pairs.jsonl from PASCAL-50S's two MATLAB files. Needs scipy."""

import json

from scipy.io import loadmat

load = lambda name: loadmat(f"data/{name}_pascal.mat", squeeze_me=True)
text = lambda cell: str(cell.item() if hasattr(cell, "item") else cell).strip()
pairs, votes = load("pair"), load("consensus")["triplets"]
each = len(votes) // len(pairs["category"])  # votes of a pair follow each other
with open("data/pairs.jsonl", "w", encoding="utf-8") as out:
    for i, kind in enumerate(pairs["category"]):
        mine = [[text(v) for v in list(row)[:3]] + [int(row[3])] for row in votes[i * each:(i + 1) * each]]
        a, b = mine[0][1:3]
        # The winner is 1 or -1: the first or the second caption of the vote.
        for_a = sum((winner == 1) == (first == a) for _, first, _, winner in mine)
        json.dump({"id": i + 1, "image": text(pairs["new_input"][i][0]), "kind": ["HC", "HI", "HM", "MM"][int(kind) - 1],
                   "references": [v[0] for v in mine], "a": a, "b": b, "votes_a": for_a, "votes_b": each - for_a}, out)
        out.write("\n")
