"""Figures for papers: SVG, PDF and PNG by matplotlib (the extra `report`), in one style."""
