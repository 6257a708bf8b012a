"""From a graph to the views of it that an encoder sees."""

from ugcl.views.features import FeatureScaling, dense_if_crowded, inverse_frequency, scale_features
from ugcl.views.sampling import Sampling, sample_nodes
from ugcl.views.subsample import Normalisation, Subsampler
from ugcl.views.view import View

__all__ = [
    "FeatureScaling",
    "Normalisation",
    "Sampling",
    "Subsampler",
    "View",
    "dense_if_crowded",
    "inverse_frequency",
    "sample_nodes",
    "scale_features",
]
