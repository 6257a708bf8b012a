"""Selection of the contextual scope n: the paper's rule, training labels, label-free criteria."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
