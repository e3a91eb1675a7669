"""The report as one HTML file: gathered, measured, drawn and packed here."""
