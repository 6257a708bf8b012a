"""Encoders: from a view to hidden representations H."""

from ugcl.encoders.gcn import GCN

__all__ = ["GCN"]
