"""A model of tables as scikit-learn's inspection tools take it."""

from __future__ import annotations

import numpy as np

from . import _native
from ._native import InvalidInput

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ImportError as error:
    raise ImportError("TableClassifier is for scikit-learn, which is not installed: pip install scikit-learn") from error


class TableClassifier(ClassifierMixin, BaseEstimator):
    """A loaded model with predict, predict_proba and score, for `sklearn.inspection` and whatever else takes classifiers.

        permutation_importance(wf.TableClassifier(model), X_test, y_test)
    """

    def __init__(self, model):
        self.model = model

    @property
    def classes_(self) -> np.ndarray:
        return np.array(_native.answer_names(self._table_model()))

    @property
    def feature_names_in_(self) -> np.ndarray:
        return np.array(_native.column_names(self._table_model()), dtype=object)

    @property
    def n_features_in_(self) -> int:
        return len(self.feature_names_in_)

    def fit(self, X, y=None):
        """The model is trained already."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, [rows, classes]."""
        answers = self.model(X, progress=False)
        if not answers:
            return np.empty((0, len(self.classes_)))
        if answers[0].probabilities is None:
            raise InvalidInput("this model is a regression, which has no classes")
        return np.array([one.probabilities for one in answers])

    def predict(self, X) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _table_model(self):
        if not getattr(self.model, "_native", None) or not self.model._native.reads_words:
            raise InvalidInput("TableClassifier takes a model with a table.json: save_table_model writes one")
        return self.model._native
