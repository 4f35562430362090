"""Which of several models to take, without looking at classes: evidence of each fit, and a recommendation from it."""

from .evidence import EVIDENCE, evidence_of
from .recommend import Recommendation, recommend

__all__ = ["EVIDENCE", "Recommendation", "evidence_of", "recommend"]
