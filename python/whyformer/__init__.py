"""Why this prediction? Explains transformers: attention, gradients, relevance, SHAP, concepts.

    import whyformer as wf

    model = wf.load("sentiment")              # or a HuggingFace folder, an ONNX file, a model held in memory
    result = model.explain("I cannot wait for next time", methods=["gae", "rollout"])
    result["gae"].scores                      # a NumPy array, one number per token
    result.save("why.html")
"""

from importlib.metadata import version as _version

from ._concepts import ConceptReport, tcav
from ._debate import DebateReport, debate
from ._evaluation import Agreement, Evaluation, agree, evaluate, protocols
from ._from_packages import SaintPreparation
from ._functions import FunctionExplanation, lime, shap
from ._importance import ComparedImportances, HeadImportance, Importance, Summary, summarise
from ._learned import LearnedReport
from ._loading import inspect, load
from ._model import Model, Output
from ._model_summary import ModelSummary
from ._native import (
    Error,
    FileError,
    InvalidInput,
    MethodInfo,
    ModelInfo,
    OptionInfo,
    UnsupportedModel,
    methods,
    relevance_policies,
    set_threads,
    studies,
    threads,
)
from ._results import Attribution, Explanation, Explanations
from ._sanity import SanityReport, sanity
from ._save_table import save_table_model
from ._tables import TableSpec, describe_table
from . import edits, maskers, metrics
from ._patching import PatchGrid, PatchReport
from ._probe import Recording
from .edits import Edit, add, freeze, noise, permute, scale, set_to, zero

__version__ = _version("whyformer")

__all__ = [
    "Agreement", "Attribution", "ComparedImportances", "ConceptReport", "DebateReport", "Edit", "Error", "Evaluation",
    "Explanation", "Explanations", "FileError", "FunctionExplanation", "HeadImportance", "Importance", "InvalidInput",
    "LearnedReport", "MethodInfo", "Model", "ModelInfo", "ModelSummary", "OptionInfo", "Output", "PatchGrid",
    "PatchReport", "Recording", "SaintPreparation", "SanityReport", "Summary", "TableClassifier", "TableSpec",
    "UnsupportedModel", "add", "agree", "debate",
    "describe_table", "edits", "evaluate", "explain", "freeze", "inspect", "lime", "load", "maskers", "methods",
    "metrics", "noise", "permute", "protocols", "relevance_policies", "sanity", "save_table_model", "scale",
    "set_threads", "set_to", "shap", "studies", "summarise", "tcav", "threads", "zero",
]


def __getattr__(name: str):
    if name == "TableClassifier":  # needs scikit-learn, which the package itself does not
        from ._classifier import TableClassifier
        return TableClassifier
    raise AttributeError(f"module 'whyformer' has no attribute {name!r}")


def explain(x, methods=None, *, model=None, **options):
    """Explains with a model by its name or path, or with a built-in one: sentences or pictures, as `x` is."""
    if model is None:
        from ._inputs import is_picture
        model = "pictures" if is_picture(x) else "sentiment"
    return load(model).explain(x, methods, **options)
