"""Conversion of files to the folder of a graph, within a limit of memory."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
