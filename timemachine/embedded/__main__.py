"""`python -m timemachine.embedded` is what `make up` runs."""

import sys

from timemachine.embedded.up import main

sys.exit(main())
