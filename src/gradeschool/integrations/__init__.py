"""The scorers and data of gradeschool inside other tools."""
