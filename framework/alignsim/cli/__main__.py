"""``python -m alignsim.cli`` is the command ``alignsim``."""

import sys

from alignsim.cli import main

sys.exit(main())
