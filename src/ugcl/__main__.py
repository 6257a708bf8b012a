"""`python -m ugcl` is the command line."""

import sys

from ugcl.cli import main

sys.exit(main())
