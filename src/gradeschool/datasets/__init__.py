"""Where problems come from: named sources verified by digest, and local files."""
