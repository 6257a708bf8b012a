from .converter import convert_graph as convert_graph
