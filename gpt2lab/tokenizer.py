"""The same tokenizer through tiktoken, fast, built from the local vocabulary files; the default."""
import codecs
from pathlib import Path

from .bpe import END_OF_TEXT, check_id, check_text, piece_pattern, read_tokens

# OpenAI's expression for GPT-2, as tiktoken publishes it.
PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"


class Tokenizer:
    """GPT-2's tokenizer: .encode(text) -> ids, .decode(ids) -> text, .decode_bytes(ids) -> bytes.

    The same ids as bpe.BPE. Nothing is fetched and nothing is written.
    """

    def __init__(self, folder):
        """folder: where encoder.json is (data/gpt2-vocab). Raises ValueError where it is not GPT-2's."""
        import tiktoken                             # here, so that `import gpt2lab` stays quick
        self.tokens = read_tokens(Path(folder) / "encoder.json")                # id -> bytes
        self.end_of_text = len(self.tokens) - 1
        ranks = {token: i for i, token in enumerate(self.tokens[:-1])}
        self._encoding = tiktoken.Encoding("gpt2", pat_str=PATTERN, mergeable_ranks=ranks,
                                           special_tokens={END_OF_TEXT: self.end_of_text})

    def encode(self, text, allow_special=False):
        """Token ids of a text; <|endoftext|> in it is plain text unless allow_special is true.

        Raises: ValueError for text with half a surrogate pair, which is no Unicode text.
        """
        check_text(text)
        try:
            return self._encoding.encode(text, allowed_special="all" if allow_special else set(),
                                         disallowed_special=())
        except ValueError:              # 999,999 spaces before a word are too many for tiktoken's pattern
            ids = []
            for part in text.split(END_OF_TEXT) if allow_special else [text]:
                for piece in piece_pattern().findall(part):             # so cut with our own
                    ids += self._encoding.encode_ordinary(piece)
                ids.append(self.end_of_text)
            return ids[:-1]

    def decode(self, ids):
        """Text of token ids; bytes that are no UTF-8 become U+FFFD. Raises ValueError for an unknown id."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def decode_bytes(self, ids):
        """Bytes of token ids, exactly. Raises ValueError for an unknown id."""
        return b"".join(self.tokens[check_id(i, len(self.tokens))] for i in ids)

    def decode_stream(self, ids):
        """Text pieces of token ids as they come, one an id, each of whole characters.

        A piece is empty while a character is not complete; the pieces join to decode(ids).
        """
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for i in ids:
            yield decoder.decode(self.decode_bytes([i]))
        yield decoder.decode(b"", final=True)
