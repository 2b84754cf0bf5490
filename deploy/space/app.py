"""Scores one output against some references, as the page of the Space."""

import gradio

import refract_eval


def score(output: str, references: str, metric: str, aggregate: str) -> tuple[float | None, str]:
    """Return the score and its signature; references are lines."""
    try:
        found = refract_eval.score([output], [references.splitlines()], metric, aggregate, layout="segment")
    except ValueError as e:
        raise gradio.Error(str(e)) from None
    return found.score, found.settings[0].signature


page = gradio.Interface(
    score,
    [
        gradio.Textbox("A dog barks.", label="Output"),
        gradio.Textbox("The dog barks.\nA dog is barking.", lines=4, label="References, one a line"),
        gradio.Dropdown(["chrf", "chrf++", "bleu", "ter", "rougeL"], label="Metric"),
        gradio.Dropdown(["max", "mean", "native"], label="Aggregator"),
    ],
    [gradio.Number(label="Score"), gradio.Textbox(label="Signature")],
    title="Refract",
)

if __name__ == "__main__":
    page.launch()
