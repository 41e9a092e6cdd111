"""Start of the program.

`--version` alone is answered from a constant before anything else is imported, because scripts ask for it
often; every other command line goes to `tui.cli`.
"""

import gc
import sys

from tui import __version__


def main() -> int:
    """Run the command line in `sys.argv` and return the exit status (CONTRACT, "Commands")."""
    arguments = sys.argv[1:]
    if arguments == ["--version"] and sys.stdout is not None:
        try:
            print(f"dsh-tui {__version__}", flush=True)
            return 0
        except OSError:
            # The command line says what is wrong with the output.
            pass
    # Starting makes many objects and next to no garbage: collecting while the modules are imported and the
    # first screen is put together took 90 ms of 410.
    gc.disable()
    from tui.cli import main as run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
