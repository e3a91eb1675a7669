"""What people read: tables, explanations and progress in the terminal."""
