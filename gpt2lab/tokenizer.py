"""The same tokenizer through tiktoken, fast, built from the local vocabulary files; the default."""
from pathlib import Path

from .bpe import BPE, END_OF_TEXT, check_size, check_text, piece_pattern, read_tokens

# OpenAI's expression for GPT-2, as tiktoken publishes it.
PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"


class Tokenizer:
    """GPT-2's tokenizer: .encode(text) -> ids, .decode(ids) -> text, .decode_bytes(ids) -> bytes.

    The same ids as bpe.BPE, with its way back. Nothing is fetched and nothing is written.
    """
    decode, decode_bytes, decode_stream = BPE.decode, BPE.decode_bytes, BPE.decode_stream

    def __init__(self, folder, size=None):
        """folder: where encoder.json is (data/gpt2-vocab). size: so many of the first tokens only,
        without an end token; None: all.

        Raises: ValueError where the file is not GPT-2's or the size not from 256 to 50,256,
            ImportError where tiktoken is missing.
        """
        import tiktoken  # here, so that `import gpt2lab` stays quick
        self._folder = folder
        self.tokens = read_tokens(Path(folder) / "encoder.json")                # id -> bytes
        self.end_of_text, special = len(self.tokens) - 1, {END_OF_TEXT: len(self.tokens) - 1}
        if size is not None:
            check_size(size, self)
            self.tokens, self.end_of_text, special = self.tokens[:size], None, {}
        ranks = {token: i for i, token in enumerate(self.tokens[:-1] if special else self.tokens)}
        self._encoding = tiktoken.Encoding("gpt2", pat_str=PATTERN, mergeable_ranks=ranks,
                                           special_tokens=special)

    def first(self, size):
        """A tokenizer with the first `size` tokens only: the 256 bytes and the first merges.

        It has no end token.
        Raises: ValueError for a size below 256, or above what there is without the end token.
        """
        check_size(size, self)
        return Tokenizer(self._folder, size)

    def encode(self, text, allow_special=False):
        """Token ids of a text; <|endoftext|> in it is plain text unless allow_special is true.

        Raises: ValueError for text with half a surrogate pair, which is no Unicode text.
        """
        check_text(text)
        try:
            return self._encoding.encode(text, allowed_special="all" if allow_special else set(),
                                         disallowed_special=())
        except ValueError:          # 999,999 spaces before a word are too many for tiktoken
            ids = []
            special = allow_special and self.end_of_text is not None
            for part in text.split(END_OF_TEXT) if special else [text]:
                for piece in piece_pattern().findall(part):             # so cut with our own
                    ids += self._encoding.encode_ordinary(piece)
                ids.append(self.end_of_text)
            return ids[:-1]


def best_tokenizer(folder):
    """A Tokenizer of the two files in the folder, or where tiktoken is missing the own BPE."""
    try:
        return Tokenizer(folder)
    except ImportError:
        return BPE.from_files(Path(folder) / "vocab.bpe", Path(folder) / "encoder.json")
