"""Times MBR decoding of 64 WMT22 outputs against each other by chrF, with Refract and with mbrs."""

import os
import time

from mbrs.decoders import DecoderMBR
from mbrs.metrics import MetricChrF

import refract_eval
from refract_eval.integrations.mbrs import MetricRefract

RUNS = 5


def timed(metric, texts):
    decoder = DecoderMBR(DecoderMBR.Config(), metric)
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        best = decoder.decode(texts, texts).idx[0]
        times.append(time.perf_counter() - began)
    return min(times), best


def main():
    data = os.environ["REFRACT_DATA"]
    if not os.path.isdir(f"{data}/mt-metrics-eval-v2"):
        print(f"not timed: there is no WMT22 in {data}")
        return
    segments = refract_eval.read(f"mtme:{data}/mt-metrics-eval-v2/wmt22/zh-en")
    texts = [s.hypotheses["HuaweiTSC"] for s in segments[:64]]
    ours, best = timed(MetricRefract(MetricRefract.Config(name="chrf")), texts)
    print(f"64 × 64 outputs by chrF, the fastest of {RUNS}:")
    print(f"  refract                 {ours * 1e3:8.1f} ms, output {best}")
    for label, options in (
        ("mbrs, 8 processes", {}),
        ("mbrs, 1 process", {"num_workers": 1}),
        ("mbrs with fastchrf", {"fastchrf": True}),
    ):
        theirs, chosen = timed(MetricChrF(MetricChrF.Config(**options)), texts)
        print(f"  {label:22}  {theirs * 1e3:8.1f} ms, output {chosen}: {theirs / ours:.1f} times ours")


if __name__ == "__main__":
    main()
