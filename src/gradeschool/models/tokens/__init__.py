"""The parts of the token loop (`gradeschool.models.token_loop`)."""
