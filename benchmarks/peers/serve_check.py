"""Checks refract serve --listen by OpenAPI's schema and by Triton's client; see serve.sh."""

import json
import subprocess
import sys
import tempfile
import urllib.request

import numpy as np
import openapi_spec_validator
import tritonclient.http as triton

HYPOTHESES = ["the cat sat", "ein Häuschen", ""]
REFERENCES = [["the cat sat down"], ["ein Haus", "das Häuschen", "ein kleines Haus"], ["it rains"]]
METRICS = ["chrf", "bleu", "ter", "rougeL", "chrf:word-order=2"]


def expected(program: str, metric: str) -> list[np.float32]:
    """What refract score says: natively, which for one reference is its score."""
    scores = []
    for hypothesis, references in zip(HYPOTHESES, REFERENCES):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            json.dump({"id": "0", "hypotheses": {"a": hypothesis}, "references": references}, file)
            file.flush()
            aggregator = "native" if len(references) > 1 else "single"
            command = [program, "score", f"jsonl:{file.name}", "-m", metric, "-a", aggregator, "--per", "segment", "-f", "json", "-q"]
            [row] = json.loads(subprocess.check_output(command))
            scores.append(np.float32(row["score"]))
    return scores


def tensor(name: str, values: list, datatype: str, binary: bool) -> triton.InferInput:
    data = np.array(values, dtype=object if datatype == "BYTES" else np.int32)
    out = triton.InferInput(name, list(data.shape), datatype)
    out.set_data_from_numpy(data, binary_data=binary)
    return out


def main() -> None:
    program = sys.argv[1]
    server = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        hello = json.loads(server.stdout.readline())
        headers = {"Authorization": "Bearer " + hello["token"]}
        request = urllib.request.Request(hello["url"] + "/openapi.json", headers=headers)
        with urllib.request.urlopen(request) as answer:
            description = json.load(answer)
        openapi_spec_validator.OpenAPIV31SpecValidator(description).validate()
        broken = json.loads(json.dumps(description))
        del broken["paths"]["/healthz"]["get"]["responses"]["200"]["description"]
        if openapi_spec_validator.OpenAPIV31SpecValidator(broken).is_valid():
            sys.exit("serve_check.py: an answer without a description is taken")
        print("the description is OpenAPI 3.1")

        client = triton.InferenceServerClient(hello["url"].removeprefix("http://"))
        for metric in METRICS:
            wanted = expected(program, metric)
            # The client writes into the headers that it is given.
            assert client.is_model_ready(metric, headers=dict(headers))
            assert client.get_model_metadata(metric, "1", headers=dict(headers))["name"] == metric
            for binary_in in (True, False):
                for binary_out in (True, False, None):
                    inputs = [
                        tensor("hypothesis", HYPOTHESES, "BYTES", binary_in),
                        tensor("reference", sum(REFERENCES, []), "BYTES", binary_in),
                        tensor("nrefs", [len(r) for r in REFERENCES], "INT32", binary_in),
                    ]
                    outputs = None
                    if binary_out is not None:
                        outputs = [triton.InferRequestedOutput(name, binary_data=binary_out) for name in ("score", "facts")]
                    answer = client.infer(metric, inputs, outputs=outputs, headers=dict(headers))
                    scores = answer.as_numpy("score")
                    if scores.tolist() != [float(w) for w in wanted]:
                        sys.exit(f"serve_check.py: {metric}: {scores}, and refract score says {wanted}")
                    if outputs and "signature" not in json.loads(answer.as_numpy("facts")[0]):
                        sys.exit(f"serve_check.py: {metric}: {answer.as_numpy('facts')}")
            print(f"{metric}: Triton's client has the scores of refract score")
    finally:
        server.terminate()
        code = server.wait()
    if code != 130:
        sys.exit(f"serve_check.py: refract serve ended with {code}")


if __name__ == "__main__":
    main()
