"""Changes of printed answers that their cases let by, each with the reason why it means nothing."""
SURVIVORS = {}
