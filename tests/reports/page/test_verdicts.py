"""Check the verdicts of a page, and the rates and shares that are counted from them."""
