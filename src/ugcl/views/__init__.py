"""From a graph to the views of it that an encoder sees."""

from ugcl.views.augment import Augmenter
from ugcl.views.corrupt import Corrupter
from ugcl.views.features import FeatureScaling, dense_if_crowded, inverse_frequency, scale_features
from ugcl.views.sampling import Sampling, sample_nodes
from ugcl.views.subsample import Normalisation, Subsampler
from ugcl.views.view import Drawn, View, Views, features_on

__all__ = [
    "Augmenter",
    "Corrupter",
    "Drawn",
    "FeatureScaling",
    "Normalisation",
    "Sampling",
    "Subsampler",
    "View",
    "Views",
    "dense_if_crowded",
    "features_on",
    "inverse_frequency",
    "sample_nodes",
    "scale_features",
]
