"""Write a tiny GGUF model with random weights, for llama.cpp's server.

Usage: llamacpp_model.py FILE

Two layers of 64 dimensions over a vocabulary of a few hundred invented words. Every run writes the same bytes.
The model knows nothing; it answers with at least one word, and ends after a few words if greedy, otherwise
mostly after some tens of tokens.
"""

import sys

import gguf
import numpy as np

WIDTH, LAYERS, HEADS, FEED, CONTEXT = 64, 2, 4, 128, 32768
# No layer changes dimensions 0 and 1. The first has this value everywhere and so
# serves as a bias; the second has it after anything that is not a word.
HIGH = 8.0


def vocabulary():
    """Tokens with their types: special ones, bytes, characters, words."""
    normal, control, unknown, byte = (
        gguf.TokenType.NORMAL,
        gguf.TokenType.CONTROL,
        gguf.TokenType.UNKNOWN,
        gguf.TokenType.BYTE,
    )
    yield "<unk>", unknown
    yield "<s>", control
    yield "</s>", control
    for b in range(256):
        yield f"<0x{b:02X}>", byte
    for c in range(0x21, 0x7F):
        yield chr(c), normal
    yield "\u2581", normal
    for first in "bdfgklmnprst":
        for vowel in "aeiou":
            for last in ("n", "r", "sta", "lo"):
                yield "\u2581" + first + vowel + last, normal


def main(path):
    rng = np.random.default_rng(20230520)
    tokens = list(vocabulary())
    size = len(tokens)

    def weights(rows, columns, scale):
        return (rng.standard_normal((rows, columns)) * scale).astype(np.float32)

    w = gguf.GGUFWriter(path, "llama")
    w.add_name("refract-tiny")
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(FEED)
    w.add_head_count(HEADS)
    w.add_head_count_kv(HEADS)
    w.add_rope_dimension_count(WIDTH // HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_vocab_size(size)
    w.add_tokenizer_model("llama")
    w.add_token_list([t for t, _ in tokens])
    w.add_token_scores([float(len(t)) if k == gguf.TokenType.NORMAL else 0.0 for t, k in tokens])
    w.add_token_types([int(k) for _, k in tokens])
    w.add_unk_token_id(0)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_add_bos_token(True)
    w.add_chat_template(
        "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
        "{% if add_generation_prompt %}assistant:{% endif %}"
    )

    embedding = weights(size, WIDTH, 1.0)
    words = np.array([t.startswith("\u2581") and len(t) > 1 for t, _ in tokens])
    embedding[:, 0] = HIGH
    embedding[:, 1] = np.where(words, 0, HIGH)
    w.add_tensor("token_embd.weight", embedding)
    ones = np.ones(WIDTH, dtype=np.float32)
    for i in range(LAYERS):
        w.add_tensor(f"blk.{i}.attn_norm.weight", ones)
        for name in ("attn_q", "attn_k", "attn_v"):
            w.add_tensor(f"blk.{i}.{name}.weight", weights(WIDTH, WIDTH, WIDTH**-0.5))
        back = weights(WIDTH, WIDTH, WIDTH**-0.5)
        back[:2] = 0
        w.add_tensor(f"blk.{i}.attn_output.weight", back)
        w.add_tensor(f"blk.{i}.ffn_norm.weight", ones)
        w.add_tensor(f"blk.{i}.ffn_gate.weight", weights(FEED, WIDTH, WIDTH**-0.5))
        w.add_tensor(f"blk.{i}.ffn_up.weight", weights(FEED, WIDTH, WIDTH**-0.5))
        down = weights(WIDTH, FEED, FEED**-0.5)
        down[:2] = 0
        w.add_tensor(f"blk.{i}.ffn_down.weight", down)
    w.add_tensor("output_norm.weight", ones)
    output = weights(size, WIDTH, 0.3)
    # Words are likely, the end comes sometimes after a word, other tokens never.
    output[:, 0] = np.where(words, 0, -10)
    output[:, 1] = 0
    output[2] *= 0.7
    output[2, :2] = 0.86, -10
    w.add_tensor("output.weight", output)

    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


main(sys.argv[1])
