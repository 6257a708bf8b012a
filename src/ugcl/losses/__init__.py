"""Losses: `nn.Module`s that take a `Batch` of patches, contexts and negatives."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
