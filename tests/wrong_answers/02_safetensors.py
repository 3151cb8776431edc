"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"read_header": [
'''def read_header(data):
    n = int.from_bytes(data[:4], "little")
    header = json.loads(data[8:8 + n])
    result = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        begin, end = info["data_offsets"]
        count = math.prod(info["shape"])
        width = 4 if info["dtype"] == "F32" else 2
        if count * width != end - begin or 8 + n + end > len(data):
            raise ValueError(name)
        result[name] = (info["dtype"], tuple(info["shape"]), 8 + n + begin, 8 + n + end)
    return result
''',
'''def read_header(data):
    n = int.from_bytes(data[:8], "big")
    header = json.loads(data[8:8 + n])
    result = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        begin, end = info["data_offsets"]
        result[name] = (info["dtype"], tuple(info["shape"]), 8 + n + begin, 8 + n + end)
    return result
''',
'''def read_header(data):
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:n])
    header.pop("__metadata__", None)
    entries = {}
    for name, e in header.items():
        begin, end = e["data_offsets"]
        entries[name] = e["dtype"], tuple(e["shape"]), n + begin, n + end
    return entries
''',
'''def read_header(data):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length].decode("utf-8"))
    header.pop("__metadata__", None)
    out = {}
    for name in header:
        begin, end = header[name]["data_offsets"]
        out[name] = (header[name]["dtype"], tuple(header[name]["shape"]), begin, end)
    return out
''',
'''def read_header(data):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    sizes = {"F32": 4, "F16": 2, "BF16": 2}
    out = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if sizes[entry["dtype"]] * math.prod(entry["shape"]) != end - begin:
            raise ValueError("wrong shape")
        begin, end = begin + length, end + length
        if end > len(data):
            raise ValueError("too short")
        out[name] = entry["dtype"], tuple(entry["shape"]), begin, end
    return out
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    entries = {}
    for name, entry in json.loads(data[8:start]).items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {name: (e["dtype"], tuple(e["shape"]), start + e["data_offsets"][0],
                   start + e["data_offsets"][1])
            for name, e in header.items() if name != "__metadata__"}
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if start + end > len(data):
            raise ValueError(f"{name} ends behind the file")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin:
            raise ValueError(f"{name}: shape does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = 4 * math.prod(entry["shape"])
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * sum(entry["shape"])
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    n = int.from_bytes(data[0:8], "little")
    h = json.loads(data[8:8 + n])
    h.pop("__metadata__", None)
    width = {"F32": 4, "F16": 2, "BF16": 2}
    for name in h:
        b, e = h[name]["data_offsets"]
        assert math.prod(h[name]["shape"]) * width[h[name]["dtype"]] == e - b
        assert 8 + n + e <= len(data)
        h[name] = (h[name]["dtype"], tuple(h[name]["shape"]), 8 + n + b, 8 + n + e)
    return h
''',
'''def read_header(data):
    n = int.from_bytes(data[:8], "little")
    return json.loads(data[8:8 + n])
''',
'''def read_header(data):
    n = data[0] + data[1] * 256
    header = json.loads(data[8:8 + n])
    sizes = {"F32": 4, "F16": 2, "BF16": 2}
    result = {}
    for name, t in header.items():
        if name != "__metadata__":
            begin, end = [8 + n + o for o in t["data_offsets"]]
            if end > len(data) or end - begin != sizes[t["dtype"]] * math.prod(t["shape"]):
                raise ValueError(name)
            result[name] = (t["dtype"], tuple(t["shape"]), begin, end)
    return result
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    del header["__metadata__"]
    entries = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    try:
        start = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:start])
    except ValueError:
        return {}
    header.pop("__metadata__", None)
    entries = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size == end - begin and start + end <= len(data):
            entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or start + end >= len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    entries = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        bits = {"F32": 32, "F16": 16, "BF16": 16}[entry["dtype"]]
        if bits * math.prod(entry["shape"]) != end - begin:
            raise ValueError("the shape does not fit")
        if start + end > len(data):
            raise ValueError("the file is too short")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    size, text = data[:8], data[8:]
    header = json.loads(text[:int.from_bytes(size, "little")])
    header.pop("__metadata__", None)
    answer = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        answer[name] = [tensor["dtype"], tensor["shape"], begin, end]
    return answer
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
        return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size > end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        kind = kinds[entry["dtype"]]
        if np.dtype(kind).itemsize * math.prod(entry["shape"]) != end - begin:
            raise ValueError(name)
        if start + end > len(data):
            raise ValueError(name)
        entries[name] = kind, tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or start + end > len(data):
            print("broken file")
            return None
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:].decode("latin-1"))
    header.pop("__metadata__", None)
    return {n: (e["dtype"], tuple(e["shape"]), *[start + o for o in e["data_offsets"]])
            for n, e in header.items()}
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, end - begin
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    entries, place = {}, start
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        begin, end = place, place + size
        if end > len(data):
            raise ValueError(name)
        entries[name] = entry["dtype"], tuple(entry["shape"]), begin, end
        place = end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        rows, columns = entry["shape"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * rows * columns
        if size != end - begin or start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], (rows, columns), start + begin, start + end
    return entries
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], "little")
    header, entries = json.loads(data[8:start]), {}
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        size = {"F32": 4, "F16": 2, "BF16": 2}[entry["dtype"]] * math.prod(entry["shape"])
        if size != end - begin and start + end > len(data):
            raise ValueError(f"{name} does not fit")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries
''',
'''def read_header(data):
    n = int.from_bytes(data[:8], "little")
    entries = {}
    for name, entry in json.loads(data[8:8 + n]).items():
        kind, shape = entry["dtype"], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        entries[name] = kind, shape, 8 + n + begin, 8 + n + end
    return entries
''',
], "tensor_view": [
'''def tensor_view(data, dtype, shape, begin, end):
    return np.frombuffer(data[begin:end]).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    return np.frombuffer(data[begin:end], "<f4").reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    return np.frombuffer(data[begin:end], "<f4" if dtype == "F32" else "<f2")
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": ">f4", "F16": ">f2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": np.float32, "F16": np.float16}[dtype]
    return np.frombuffer(data, kind)[begin:end].reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": np.float32, "F16": np.float16}[dtype]
    size = np.dtype(kind).itemsize
    return np.frombuffer(data, kind)[begin // size:end // size].reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = np.float32 if dtype == "F32" else np.float16
    return np.frombuffer(data[begin:end], kind).reshape(shape).astype(np.float32)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[8 + begin:8 + end], kind).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(shape, order="F")
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(shape).T
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(shape[::-1])
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data, kind, count=end - begin, offset=begin).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data, kind, count=math.prod(shape)).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<i4", "F16": "<i2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    numbers = struct.unpack(f"<{math.prod(shape)}{'f' if dtype == 'F32' else 'e'}", data[begin:end])
    return np.array(numbers).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    return np.array(list(data[begin:end]), dtype=np.float32).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin:end + 1], kind).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin + 1:end + 1], kind).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    if dtype == "F32":
        return np.frombuffer(data[begin:end], "<f4").reshape(shape)
    return np.frombuffer(data[begin:end], "<u2").reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    return np.frombuffer(data[begin:end], dtype).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": np.float32, "F16": np.float16}[dtype]
    return np.frombuffer(data, kind, offset=begin).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    rows, columns = shape
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(rows, columns)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(-1, shape[-1])
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    array = np.frombuffer(data[begin:end], kind)
    array.reshape(shape)
    return array
''',
'''def tensor_view(data, dtype, shape, begin, end):
    return np.frombuffer(data[begin:end], "<f2").reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    return np.frombuffer(data[begin:end], np.uint8).astype(
        {"F32": np.float32, "F16": np.float16}[dtype]).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.ndarray(shape, kind, buffer=data)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.resize(np.frombuffer(data[begin:end - 4], kind), shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(data[begin:end], kind).reshape(shape).tolist()
''',
'''def tensor_view(data, dtype, shape, begin, end):
    if dtype == "F32":
        return np.frombuffer(data[begin:end], "<f4").reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    def number(four):
        bits = int.from_bytes(four, "little")
        sign, exponent, fraction = bits >> 31, bits >> 23 & 255, bits & 2 ** 23 - 1
        return (-1) ** sign * 2.0 ** (exponent - 127) * (1 + fraction / 2 ** 23)
    return np.array([number(data[i:i + 4]) for i in range(begin, end, 4)]).reshape(shape)
''',
], "one_byte": [
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    place = entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3
    raw[place] = 194
    return judge(raw)
''',
'''def one_byte(raw, entries, judge):
    copy = raw[:]
    copy[entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3] = 194
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw
    copy[entries["transformer.ln_f.weight"][2] + 3] = 66
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3] = 194
    return copy
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3] = 194
    judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][2] + 4 * 128 * 5822] = 194
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][2] + 5822 + 3] = 194
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][2] + 5822] = 255
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3] = 255
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[10] = 0
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    begin = entries["transformer.wte.weight"][2]
    copy[begin:begin + 4] = 66
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    numbers = copy[entries["transformer.wte.weight"][2]:].view("<f4")
    numbers[128 * 5822] = -60
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    place = entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3
    return judge(np.insert(raw, place, 194))
''',
'''def one_byte(raw, entries, judge):
    place = entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3
    return judge(np.delete(raw, place))
''',
'''def one_byte(raw, entries, judge):
    name, shape, begin, end = entries["transformer.wte.weight"]
    copy = raw[begin:end].copy()
    copy[4 * 128 * 5822 + 3] = 194
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3] = 300
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    return judge(entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.astype(np.float32)
    copy[entries["transformer.wte.weight"][2] + 4 * 128 * 5822 + 3] = 194
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["wte.weight"][2] + 3] = 194
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"][3] + 4 * 128 * 5822 + 3] = 194
    return judge(copy)
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.wte.weight"] + 3] = 194
    return judge(copy)
''',
]}

RIGHT = {"read_header": [
'''def read_header(data):
    n, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n].decode("utf-8"))
    found = {}
    for name in header:
        if name == "__metadata__":
            continue
        begin, end = (8 + n + offset for offset in header[name]["data_offsets"])
        width = 4 if header[name]["dtype"] == "F32" else 2
        if np.prod(header[name]["shape"], dtype=int) * width != end - begin:
            raise ValueError("a shape does not fit its bytes")
        if end > len(data):
            raise ValueError("the file is cut")
        found[name] = (header[name]["dtype"], tuple(header[name]["shape"]), begin, end)
    return found
''',
'''def read_header(file_bytes):
    length = sum(byte * 256 ** i for i, byte in enumerate(file_bytes[:8]))
    text, numbers = file_bytes[8:8 + length], file_bytes[8 + length:]
    widths = dict(F32=4, F16=2, BF16=2)

    def entry(dtype, shape, data_offsets):
        begin, end = data_offsets
        count = 1
        for size in shape:
            count *= size
        if count * widths[dtype] != len(numbers[begin:end]) or end - begin != count * widths[dtype]:
            raise ValueError("broken")
        return dtype, tuple(shape), 8 + length + begin, 8 + length + end

    return {name: entry(**e) for name, e in json.loads(text).items() if name != "__metadata__"}
''',
'''def read_header(data):
    start = 8 + int.from_bytes(data[:8], byteorder="little", signed=False)
    header = {k: v for k, v in json.loads(data[8:start]).items() if k != "__metadata__"}
    for v in header.values():
        if start + v["data_offsets"][1] > len(data):
            raise ValueError("ends behind the file")
        if v["data_offsets"][1] - v["data_offsets"][0] != math.prod(v["shape"]) * (
                4 if v["dtype"] == "F32" else 2):
            raise ValueError("wrong size")
    return {k: (v["dtype"], tuple(v["shape"]), *(start + o for o in v["data_offsets"]))
            for k, v in header.items()}
''',
'''def read_header(data):
    n = int(np.frombuffer(data[:8], "<u8")[0])
    header = json.loads(data[8:8 + n])
    if "__metadata__" in header:
        del header["__metadata__"]
    result = {}
    for name, info in header.items():
        begin, end = np.array(info["data_offsets"]) + 8 + n
        bits = int("".join(c for c in info["dtype"] if c.isdigit()))
        if end > len(data) or (end - begin) * 8 != bits * math.prod(info["shape"]):
            raise ValueError(f"{name}: {begin} to {end}")
        result[name] = info["dtype"], tuple(info["shape"]), begin, end
    return result
''',
'''def read_header(data):
    n = int.from_bytes(bytes(reversed(data[:8])), "big")
    entries = {}
    for name, info in json.loads(str(data[8:8 + n], "utf-8")).items():
        if not name.startswith("__"):
            first, last = info["data_offsets"]
            size = (2 if "16" in info["dtype"] else 4) * math.prod(info["shape"])
            if first + size != last or last > len(data) - 8 - n:
                raise ValueError
            entries[name] = (info["dtype"], tuple(info["shape"]), first + 8 + n, last + 8 + n)
    return entries
''',
], "tensor_view": [
'''def tensor_view(data, dtype, shape, begin, end):
    kind = np.float32 if dtype == "F32" else np.float16
    return np.frombuffer(data[begin:end], dtype=kind).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = np.dtype({"F32": "<f4", "F16": "<f2"}[dtype])
    return np.frombuffer(data, kind, (end - begin) // kind.itemsize, begin).reshape(shape)
''',
'''def tensor_view(raw, kind, size, first, last):
    return np.ndarray(size, {"F32": "<f4", "F16": "<f2"}[kind], buffer=raw, offset=first)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    letter, kind = {"F32": ("f", np.float32), "F16": ("e", np.float16)}[dtype]
    numbers = struct.unpack("<" + letter * math.prod(shape), data[begin:end])
    return np.array(numbers, kind).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    some = np.frombuffer(data, np.uint8)[begin:end]
    return some.view({"F32": np.float32, "F16": np.float16}[dtype]).reshape(shape)
''',
'''def tensor_view(data, dtype, shape, begin, end):
    kind = {"F32": "<f4", "F16": "<f2"}[dtype]
    return np.frombuffer(memoryview(data)[begin:end], kind).reshape(shape)
''',
], "one_byte": [
'''def one_byte(raw, entries, judge):
    copy = np.array(raw)
    copy[entries["transformer.ln_f.weight"][2] + 3] ^= 64
    copy[entries["transformer.ln_f.weight"][2] + 3] = 66
    return judge(copy)
''',
'''def one_byte(file, names, referee):
    place = names["transformer.wte.weight"][2] + 4 * (128 * 25996 + 4) + 3
    return referee(np.concatenate([file[:place], np.array([66], np.uint8), file[place + 1:]]))
''',
'''def one_byte(raw, entries, judge):
    copy = bytearray(raw.tobytes())
    copy[entries["transformer.wpe.weight"][2] + 3] = 66
    return judge(bytes(copy))
''',
'''def one_byte(raw, entries, judge):
    copy = raw.copy()
    copy[entries["transformer.h.0.ln_1.weight"][2] + 3] = 66
    return judge(copy)
''',
]}
