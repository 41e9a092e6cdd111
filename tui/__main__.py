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
    try:
        _end_in_order()
        from tui.cli import main as run

        return run(arguments)
    except KeyboardInterrupt:
        # While modules were imported, or on the way out.
        return 130


def _end_in_order() -> None:
    """Let a signal to end unwind the program, so that no half-written file and no child stays behind."""
    import signal

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            # A caller that ignores it (nohup) is left its way.
            signal.signal(number, end)


if __name__ == "__main__":
    sys.exit(main())
