"""The metric that evaluate.load() finds here."""

from refract_eval.integrations.evaluate import Refract

__all__ = ["Refract"]
