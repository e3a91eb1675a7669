"""The program `gradeschool`, also as `python -m gradeschool`."""

import os


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it without a traceback."""
    try:
        from gradeschool.cli import main as run

        run()
    except KeyboardInterrupt:
        os.write(2, b"gradeschool: interrupted\n")
        os._exit(130)  # not `sys.exit`: normal shutdown can fail in a half-imported module


if __name__ == "__main__":
    main()
