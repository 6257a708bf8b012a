"""Encoders: from a view to hidden representations H."""

from ugcl.encoders.deep import Activation, DeepGCN
from ugcl.encoders.encoder import Encoder
from ugcl.encoders.gcn import GCN
from ugcl.encoders.linear import Linear
from ugcl.encoders.variational import VariationalGCN

__all__ = ["GCN", "Activation", "DeepGCN", "Encoder", "Linear", "VariationalGCN"]
