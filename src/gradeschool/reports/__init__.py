"""Reports: tables and progress in the terminal, pages, figures, and files for other programs."""
