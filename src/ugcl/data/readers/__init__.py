"""Readers of users' graphs: edges, features and labels from files, data frames and libraries."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
