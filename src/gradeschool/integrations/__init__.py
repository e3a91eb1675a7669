"""Our scorers and data in the shapes that other tools expect."""

# The scorer of every reward, scorer and environment that names none.
DEFAULT_SCORER = "gradeschool/reader"
