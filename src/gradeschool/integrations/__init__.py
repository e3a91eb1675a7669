"""Our rules and data in the shapes that other tools expect."""
