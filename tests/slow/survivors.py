"""Changes of printed answers that their cases let by, each with the reason why it means nothing."""
MESSAGE = "only the words of the error message change"
SURVIVORS = {
    "read_header": {
        "tuple() dropped in: entries[name] = (entry['dtype'], tuple(entry['shape']), start + "
        "begin, start + end)": "a list of sizes gives an array its shape as well as a tuple does",
    },
    "strict_embed": dict.fromkeys((
        "Sub to Add in: raise ValueError(f'ids must be from 0 to {len(wte) - 1}')",
        "operands swapped in: raise ValueError(f'ids must be from 0 to {len(wte) - 1}')",
        "1 to 2 in: raise ValueError(f'ids must be from 0 to {len(wte) - 1}')",
        "1 to 0 in: raise ValueError(f'ids must be from 0 to {len(wte) - 1}')"), MESSAGE),
    "nearest": {
        "Mult to Div in: lengths = np.linalg.norm(table, axis=-1) * np.linalg.norm(row)":
            "the length of the row is one factor for all cosines, so their order stays",
        "list() dropped in: return list(np.argsort(-cosines)[:k])":
            "an array of ids is taken for a list of ids",
        "USub dropped in: lengths = np.linalg.norm(table, axis=-1) * np.linalg.norm(row)":
            "axis 1 is the last axis of a table, which has two",
    },
}
