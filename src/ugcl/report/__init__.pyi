from .contents import ReportData as ReportData
from .contents import gather as gather
from .page import render_asset as render_asset
from .page import verdict as verdict
from .page import write_page as write_page
from .plots import check_plotting as check_plotting
from .plots import plot_scope as plot_scope
