"""Encoders: from a view to hidden representations H."""

from ugcl.nn.deep import Activation, DeepGCN
from ugcl.nn.encoder import Encoder
from ugcl.nn.gcn import GCN
from ugcl.nn.linear import Linear
from ugcl.nn.variational import VariationalGCN

__all__ = ["GCN", "Activation", "DeepGCN", "Encoder", "Linear", "VariationalGCN"]
