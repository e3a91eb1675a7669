"""A tokenizer whose tokens join "=" with what is beside it."""

from collections.abc import Sequence


class Merging:
    """A tokenizer whose tokens join "=" with what is beside it; one for each string."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = [*"<0123456789+*>=", *tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.tokens[token] for token in ids]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.convert_ids_to_tokens(ids))

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [self.tokens.index(character) for character in text]}
