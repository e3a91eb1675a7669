"""The report as one HTML file: gather the runs, judge them, draw and write the page."""
