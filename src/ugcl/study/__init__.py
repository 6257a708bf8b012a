"""Studies: accuracy over seeds, paired comparisons, scopes; and the paper's published figures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
