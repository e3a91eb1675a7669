"""`python -m gradeschool`."""

from gradeschool.cli import main

if __name__ == "__main__":
    main()
