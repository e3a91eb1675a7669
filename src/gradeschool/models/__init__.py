"""Who answers: OpenAI-compatible endpoints and recorded files."""
