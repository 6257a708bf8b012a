from .cost import Cost as Cost
from .cost import estimate_cost as estimate_cost
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import diagnose as diagnose
from .graph_warnings import too_many_classes as too_many_classes
