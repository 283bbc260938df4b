"""The command line: ``ddelm`` and ``python -m ddelm``."""

import sys

from ddelm import _native


def main() -> int:
    """Run the program with the arguments of the process and return its exit code."""
    return _native.main(["ddelm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
