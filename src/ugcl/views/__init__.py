"""From a graph to the views of it that an encoder sees."""

from ugcl._utils.memo import remembered
from ugcl.views.augment import Augmenter, edge_ends
from ugcl.views.centrality import (
    CENTRALITIES,
    Centrality,
    centrality,
    drop_probabilities,
    edge_weights,
    feature_weights,
)
from ugcl.views.corrupt import Corrupter
from ugcl.views.sampling import Sampling, sample_nodes
from ugcl.views.scaling import (
    FeatureScaling,
    dense_if_crowded,
    inverse_frequency,
    scale_features,
    smoothed,
)
from ugcl.views.subgraphs import Subgraphs, SubgraphSampler, centre_view
from ugcl.views.subsample import Normalisation, Subsampler
from ugcl.views.view import Sample, View, ViewSampler, features_on, rows_on, side_by_side
from ugcl.views.walks import Walker
from ugcl.views.with_edges import WithEdges

__all__ = [
    "CENTRALITIES",
    "Augmenter",
    "Centrality",
    "Corrupter",
    "FeatureScaling",
    "Normalisation",
    "Sample",
    "Sampling",
    "SubgraphSampler",
    "Subgraphs",
    "Subsampler",
    "View",
    "ViewSampler",
    "Walker",
    "WithEdges",
    "centrality",
    "centre_view",
    "dense_if_crowded",
    "drop_probabilities",
    "edge_ends",
    "edge_weights",
    "feature_weights",
    "features_on",
    "inverse_frequency",
    "remembered",
    "rows_on",
    "sample_nodes",
    "scale_features",
    "side_by_side",
    "smoothed",
]
