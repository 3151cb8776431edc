"""python -m gpt2lab ..."""
import sys

from .cli import main

sys.exit(main())
