"""The measurements of `ugcl bench`: time and memory of training, embedding and loading."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
