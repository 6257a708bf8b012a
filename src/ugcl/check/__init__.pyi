from .cost import Cost as Cost
from .cost import estimate_cost as estimate_cost
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import diagnose as diagnose
