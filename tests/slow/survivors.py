"""Changes of printed answers that their cases let by, each with the reason why it means nothing."""
SURVIVORS = {
    "downhill": {
        "zeros to ones in: slopes = np.zeros(len(numbers))": "each slope is written over",
    },
    "read_header": {
        "tuple() dropped in: entries[name] = (entry['dtype'], tuple(entry['shape']), start + "
        "begin, start + end)": "a list of sizes gives an array its shape as well as a tuple does",
    },
    "find_merges": dict.fromkeys((
        "0 to 1 in: if max(counts.values(), default=0) < 2:",
        "0 to -1 in: if max(counts.values(), default=0) < 2:"),
        "any number below 2 says that there is nothing to merge"),
    "one_byte": dict.fromkeys((
        "194 to 195 in: copy[row + 3] = 194", "194 to 193 in: copy[row + 3] = 194",
        "4 to 5 in: row = entries['transformer.wte.weight'][2] + 4 * 128 * 5822",
        "4 to 3 in: row = entries['transformer.wte.weight'][2] + 4 * 128 * 5822",
        "128 to 129 in: row = entries['transformer.wte.weight'][2] + 4 * 128 * 5822"),
        "another byte that changes the story is as good"),
    "nearest": {
        "Mult to Div in: lengths = np.linalg.norm(table, axis=-1) * np.linalg.norm(row)":
            "the length of the row is one factor for all cosines, so their order stays",
        "tolist dropped in: return np.argsort(-cosines)[:k].tolist()":
            "an array of ids is taken for a list of ids",
        "USub dropped in: lengths = np.linalg.norm(table, axis=-1) * np.linalg.norm(row)":
            "axis 1 is the last axis of a table, which has two",
    },
    "by_hand": {
        "USub dropped in: q = token * (sharp * token.shape[-1] ** 0.5)":
            "the rows of a text have two axes, so the last one is axis 1",
    },
    "attend_heads": {
        "USub dropped in: qkv = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)":
            "x has two axes, so the last one is axis 1",
        "1 to 2 in: q, k, v = (part.reshape(T, n_head, -1).swapaxes(0, 1) for part in qkv)":
            "NumPy works out -2 in a shape as it does -1",
    },
    "head_parts": {
        "1 to 2 in: return mixed @ w_out.reshape(H, Dh, -1)":
            "NumPy works out -2 in a shape as it does -1",
    },
    "probabilities": {
        "dropped 'probs = probs / probs.sum()' in: def probabilities(logits, temperature=1.0, "
        "top_k=None, top_p=None, min_p=None):":
            "all cuts compare shares, and the end divides by the sum",
        "Div to Mult in: probs = probs / probs.sum()":
            "all cuts compare shares, and the end divides by the sum",
        "sum to mean in: probs = probs / probs.sum()":
            "all cuts compare shares, and the end divides by the sum",
    },
    "sample": {
        "int() dropped in: return int(np.searchsorted(total, u * total[-1], side='right'))":
            "a whole number of NumPy's is an id too",
    },
    "entropy": {
        "float() dropped in: return float(-(kept * np.log2(kept)).sum())":
            "a float of NumPy's is a number too",
    },
    "penalised": {
        "Gt to GtE in: new[i] = new[i] / penalty if new[i] > 0 else new[i] * penalty":
            "0 divided or multiplied stays 0",
    },
    "logit_parts": {
        "USub dropped in: lengths = np.linalg.norm(table, axis=-1)":
            "the table has two axes, so the last one is axis 1",
        "USub dropped in: return np.stack([length, lengths, table @ row / (length * lengths)], "
        "axis=-1)": "what is stacked has one axis, so the new last one is axis 1",
    },
    "lens": {
        "USub dropped in: return np.array([lm_head(x, gain, bias, wte).argmax(axis=-1) for x in "
        "streams])": "logits have two axes, so the last one is axis 1",
    },
    "steer": {
        "USub dropped in: lengths = np.linalg.norm(x, axis=-1, keepdims=True)":
            "the stream has two axes, so the last one is axis 1",
    },
    "induction_score": {
        "1 to 2 in: t = np.arange(period, pattern.shape[-1])":
            "a pattern has as many queries as keys: axes -1 and -2 are alike",
    },
    "direct_logits": {
        "operands swapped in: return np.append(centred / deviation * gain @ target, bias @ target)":
            "a dot product of two rows is the same in either order",
        "USub dropped in: centred = parts - parts.mean(axis=-1, keepdims=True)":
            "the parts have two axes, so the last one is axis 1",
    },
    "position_losses": {
        "USub dropped in: z = logits[:-1] - logits[:-1].max(axis=-1, keepdims=True)":
            "logits have two axes, so the last one is axis 1",
        "USub dropped in: return np.log(np.exp(z).sum(axis=-1)) - z[np.arange(len(z)), ids[1:]]":
            "logits have two axes, so the last one is axis 1",
    },
    "quantize_int8": {
        "1 to 2 in: steps = w / np.where(scales > 0, scales, 1)":
            "a column of zeros stays 0, whatever number divides it",
    },
    "guess": {
        "0 to -1 in: for n in range(min(longest, len(ids) - 1), 0, -1):":
            "with n = 0 an empty slice is compared with the whole text, and never equal",
        "Sub to Add in: for n in range(min(longest, len(ids) - 1), 0, -1):":
            "an end as long as the text has no earlier place: the inner loop is empty",
        "1 to 0 in: for n in range(min(longest, len(ids) - 1), 0, -1):":
            "an end as long as the text has no earlier place: the inner loop is empty",
        "1 to 2 in: for start in range(len(ids) - n - 1, -1, -1):":
            "a slice from the last place back to an earlier one is empty, and never equal",
    },
    "cross_entropy": {
        "USub dropped in: z = logits - logits.max(axis=-1, keepdims=True)":
            "logits have two axes, so the last one is axis 1",
        "USub dropped in: return (np.log(np.exp(z).sum(axis=-1)) - right).mean()":
            "logits have two axes, so the last one is axis 1",
    },
}
