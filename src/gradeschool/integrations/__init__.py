"""Our rules and data in the shapes that other tools expect."""

# The rule of every reward, scorer and environment that names none.
DEFAULT_RULE = "gradeschool/reader"
