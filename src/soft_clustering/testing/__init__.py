"""Conformance checks: does an estimator follow the protocol of :mod:`soft_clustering.base`?

``check_soft_clusterer(estimator)`` runs all of them; ``ALL_CHECKS`` lists them, for one test per check::

    @pytest.fixture(scope="module", autouse=True)
    def one_fit_for_many_checks():
        with shared_fits():
            yield


    @pytest.mark.parametrize("check", ALL_CHECKS)
    def test_protocol(check):
        check(MyClusterer())

The fixture is there for speed only: without it, every check fits anew. ``SETTING_CHECKS`` are the checks whose result
may depend on the values of the parameters, to be run on further settings; the others look at the class, which is the
same in all settings.

A check takes an unfitted estimator, works on clones of it, and raises AssertionError with a message that names the
estimator and the broken rule. It returns silently if the rule does not apply, for example prediction rules if the
estimator cannot predict. The data follow the estimator's ``modality`` and ``n_clusters``.
"""

from __future__ import annotations

from ..base import BaseSoftClusterer
from . import fitting, inputs, parameters, prediction
from .data import SAMPLES, Sample, make_sample
from .harness import Check, quick, shared_fits

ALL_CHECKS: tuple[Check, ...] = (
    parameters.check_class_attributes,
    parameters.check_default_construction,
    parameters.check_init_stores_parameters,
    parameters.check_positional_parameters,
    parameters.check_set_params,
    parameters.check_clone,
    parameters.check_fit_signature,
    fitting.check_fit_returns_self,
    fitting.check_shapes,
    fitting.check_membership_values,
    fitting.check_row_sums,
    fitting.check_labels,
    fitting.check_n_clusters,
    fitting.check_parameters_kept,
    fitting.check_not_fitted,
    fitting.check_fit_predict,
    fitting.check_same_seed,
    fitting.check_refit,
    fitting.check_pickle,
    fitting.check_deepcopy,
    fitting.check_global_random_state,
    fitting.check_silent,
    fitting.check_verbose,
    fitting.check_cover,
    fitting.check_objective,
    fitting.check_n_iter,
    fitting.check_convergence_warning,
    prediction.check_method_availability,
    prediction.check_prediction_values,
    prediction.check_training_data,
    prediction.check_predict,
    prediction.check_transform,
    prediction.check_batches,
    prediction.check_prediction_keeps_model,
    prediction.check_fitted_parameters,
    prediction.check_score,
    inputs.check_input_kept,
    inputs.check_refused_input,
    inputs.check_float32,
    inputs.check_containers,
    inputs.check_feature_names,
    inputs.check_set_output,
    inputs.check_weight_zero,
    inputs.check_weight_integer,
    inputs.check_weight_uniform,
)

_OF_THE_CLASS = {
    parameters.check_class_attributes,
    parameters.check_default_construction,
    parameters.check_init_stores_parameters,
    parameters.check_positional_parameters,
    parameters.check_set_params,
    parameters.check_clone,
    parameters.check_fit_signature,
    fitting.check_fit_returns_self,
    fitting.check_not_fitted,
    fitting.check_fit_predict,
    prediction.check_method_availability,
    prediction.check_transform,
    inputs.check_refused_input,
    inputs.check_containers,
    inputs.check_feature_names,
    inputs.check_set_output,
}
SETTING_CHECKS: tuple[Check, ...] = tuple(check for check in ALL_CHECKS if check not in _OF_THE_CLASS)


def check_soft_clusterer(estimator: BaseSoftClusterer) -> None:
    """Check that an estimator follows the protocol.

    Parameters
    ----------
    estimator : BaseSoftClusterer
        An unfitted instance; its parameters are kept, but for ``random_state`` and ``verbose``.

    Raises
    ------
    AssertionError
        For the first broken rule, naming the estimator and the rule.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> check_soft_clusterer(FCM(n_clusters=2))
    """
    with shared_fits():
        for check in ALL_CHECKS:
            check(estimator)


__all__ = [
    "ALL_CHECKS",
    "SAMPLES",
    "SETTING_CHECKS",
    "Check",
    "Sample",
    "check_soft_clusterer",
    "make_sample",
    "quick",
    "shared_fits",
]
