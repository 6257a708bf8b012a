from .deep import DeepGCN as DeepGCN
from .encoder import Encoder as Encoder
from .gcn import GCN as GCN
from .head import ProjectionHead as ProjectionHead
from .kernels import plain_formulas as plain_formulas
from .linear import LinearEncoder as LinearEncoder
from .rows import unit_rows as unit_rows
from .variational import VariationalGCN as VariationalGCN
