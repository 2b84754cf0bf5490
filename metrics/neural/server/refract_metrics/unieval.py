"""UniEval (Zhong et al., EMNLP 2022): the probability that a T5 answers a question with Yes.

Dimensions that the published program scores sentence by sentence are missing, because it needs NLTK's data to
split; so are those that need a fact besides source and reference.
"""

import torch
from transformers import AutoTokenizer, T5ForConditionalGeneration

from . import metric
from .metric import Checkpoint, Wrong, by_length, padded, token_ids

LONGEST = 1024
# Task and dimension: the question, the name of the hypothesis, what it is compared with.
DIMENSIONS = {
    "summarization/coherence": ("Is this a coherent summary to the document?", "summary", "document", "source"),
    "summarization/relevance": ("Is this summary relevant to the reference?", "summary", "reference", "reference"),
    "dialogue/naturalness": ("Is this a natural response in the dialogue?", "response", "", ""),
    "dialogue/coherence": ("Is this a coherent response given the dialogue history?", "response", "dialogue history", "source"),
    "dialogue/understandability": ("Is this an understandable response in the dialogue?", "response", "", ""),
    "data2text/naturalness": ("Is this a fluent utterance?", "utterance", "", ""),
    "data2text/informativeness": ("Is this sentence informative according to the reference?", "sentence", "reference", "reference"),
}


class Metric(metric.Metric):
    version = "37bd629"  # the commit of the published program
    checkpoint = Checkpoint("MingZhong/unieval-sum", "3.1 GB")
    lower, upper = 0, 1
    options = {"dimension": str}

    @classmethod
    def reads(cls, options):
        against = question(options.get("dimension"))[3]
        return (against,) if against else ()

    def __init__(self, folder, dimension="summarization/relevance", **common):
        super().__init__(folder, **common)
        self.ask = question(dimension)
        self.model = self.load(T5ForConditionalGeneration)
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.answers = [self.tokenizer(word)["input_ids"][0] for word in ("Yes", "No")]
        self.state["dimension"] = dimension

    @torch.inference_mode()
    def pairs(self, triples):
        asked, name, other, against = self.ask
        prompts = [f"question: {asked} </s> {name}: {t[1]}"
                   + (f" </s> {other}: {t[0 if against == 'source' else 2]}" if other else "") for t in triples]
        ids, lengths = token_ids(self.tokenizer, prompts, LONGEST)
        scores = [0.0] * len(triples)
        for batch in by_length(lengths, self.tokens):
            batch_ids, mask = padded(ids, batch, self.tokenizer.pad_token_id, self.device)
            start = torch.full((len(batch), 1), self.model.config.decoder_start_token_id, device=self.device)
            logits = self.model(input_ids=batch_ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0].float()
            yes = logits[:, self.answers].softmax(1)[:, 0].tolist()
            for i, score in zip(batch, yes):
                scores[i] = score
        return {"score": scores}


def question(dimension):
    dimension = dimension or "summarization/relevance"
    if dimension not in DIMENSIONS:
        raise Wrong(f"dimension={dimension}: it is one of {', '.join(DIMENSIONS)}")
    return DIMENSIONS[dimension]
