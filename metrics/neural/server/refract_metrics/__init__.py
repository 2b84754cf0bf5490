"""Neural metrics as models of the Open Inference Protocol v2.

    request ──► protocol.answer ──► Metric.encode and score, or pairs ──► outputs
    (on_triton,  (checks, rows)      (one file a metric)
     on_mlserver)

A metric is a module here with a class Metric. It derives from metric.Metric.
"""
