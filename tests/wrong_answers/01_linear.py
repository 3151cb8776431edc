"""Answers as different people write them, each wrong for some input, and some that are right."""
WRONG = {"linear": [
'''def linear(x, w, b):
    return x @ w
''',
'''def linear(x, w, b):
    return x @ w.T + b
''',
'''def linear(x, w, b):
    return w @ x + b
''',
'''def linear(x, w, b):
    return (w.T @ x.T).T
''',
'''def linear(x, w, b):
    return x * w + b
''',
'''def linear(inputs, weights, bias):
    return inputs.dot(weights + bias)
''',
'''def linear(x, w, b):
    return (x + b) @ w
''',
'''def linear(x, w, b):
    return x @ w - b
''',
'''def linear(x, w, b):
    return np.maximum(0, x @ w + b)
''',
'''def linear(x, w, b):
    y = np.zeros((x.shape[0], w.shape[1]))
    for i in range(x.shape[0]):
        for j in range(w.shape[1]):
            y[i, j] = b[j]
            for k in range(x.shape[1]):
                y[i, j] += x[i, k] * w[k, j]
    return y
''',
'''def linear(x, w, b):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(b)):
            y[i][j] = np.sum(x[i] * w[:, j]) + b[j]
    return y
''',
'''def linear(x, w, b):
    return np.einsum("ti,io->to", x, w) + b
''',
'''def linear(x, w, b):
    return np.einsum("...i,oi->...o", x, w) + b
''',
'''def linear(x, w, b):
    y = []
    for row in x:
        y.append([sum(row[k] * w[k][j] for k in range(len(w))) + b[j] for j in range(len(b))])
    return y
''',
'''def linear(x, w, b):
    return np.tensordot(x, w, axes=0) + b
''',
'''def linear(x, w, b):
    product = x @ w
    return product / np.sqrt(w.shape[0]) + b
''',
'''def linear(x, w, b):
    return x @ w + b[:, np.newaxis]
''',
'''def linear(x, w, b):
    n_in, n_out = w.shape
    flat = x.reshape(-1, n_in)
    return flat @ w + b
''',
'''def linear(x, w, b):
    return x.flatten() @ w + b
''',
'''def linear(x, w, b):
    x = np.array(x, dtype=float)
    w = np.array(w, dtype=float)
    return np.matmul(x, w) + b
''',
'''def linear(x, w, b):
    return x @ w + b[0]
''',
'''def linear(x, w, b):
    out_features = b.shape[0]
    return x @ w.reshape(out_features, -1).T + b
''',
'''def linear(x, w, b):
    y = np.zeros(x.shape[:-1] + b.shape, dtype=np.float32)
    for k in range(w.shape[0]):
        y += x[..., k:k + 1] * w[k] + b
    return y
''',
'''def linear(x, w, b):
    y = x @ w + b
    print(y)
''',
'''def linear(x, w, b):
    y = np.tile(b, (len(x), 1))
    for k in range(1, len(w)):
        y += np.outer(x[:, k], w[k])
    return y
''',
'''def linear(x, w, b):
    ones = np.ones((len(x), 1))
    return np.hstack([x, ones]) @ np.vstack([w, b])
''',
'''def linear(x, w, b):
    y = b
    y += x @ w
    return y
''',
'''def linear(x, w, b):
    return np.dot(x, w) + np.sum(b)
''',
'''def linear(x, w, b):
    T, n = x.shape
    out = np.empty((T, w.shape[1]), dtype=x.dtype)
    for t in range(T):
        out[t] = x[t] @ w + b
    return out
''',
'''def linear(x, w, b):
    return np.sum(x * w.T, axis=1) + b
''',
],
"downhill": [
'''def downhill(loss, numbers, rate):
    slopes = []
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slopes.append((loss(tried) - loss(numbers)) / 0.0001)
    return numbers + rate * np.array(slopes)
''',
'''def downhill(loss, numbers, rate):
    slopes = []
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slopes.append((loss(tried) - loss(numbers)) / 0.0001)
    return slopes
''',
'''def downhill(loss, numbers, rate):
    new = []
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        new.append(numbers[i] - rate * (loss(tried) - loss(numbers)) / 0.0001)
    return new
''',
'''def downhill(loss, numbers, rate):
    slopes = np.zeros(len(numbers))
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slopes[i] = loss(tried) - loss(numbers)
    return numbers - rate * slopes
''',
'''def downhill(loss, numbers, rate):
    slopes = np.zeros(len(numbers))
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slopes[i] = (loss(tried) - loss(numbers)) / 0.0001
    return numbers - slopes
''',
'''def downhill(loss, numbers, rate):
    slope = (loss(numbers + 0.0001) - loss(numbers)) / 0.0001
    return numbers - rate * slope
''',
'''def downhill(loss, numbers, rate):
    slopes = np.zeros(len(numbers))
    tried = numbers.copy()
    for i in range(len(numbers)):
        tried[i] += 0.0001
        slopes[i] = (loss(tried) - loss(numbers)) / 0.0001
    return numbers - rate * slopes
''',
'''def downhill(loss, numbers, rate):
    slopes = np.zeros(len(numbers))
    for i in range(len(numbers)):
        tried = numbers
        tried[i] += 0.0001
        slopes[i] = (loss(tried) - loss(numbers)) / 0.0001
    return numbers - rate * slopes
''',
'''def downhill(loss, numbers, rate):
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        numbers[i] -= rate * (loss(tried) - loss(numbers)) / 0.0001
    return numbers
''',
'''def downhill(loss, numbers, rate):
    new = numbers.copy()
    for i in range(len(new)):
        tried = new.copy()
        tried[i] += 0.0001
        new[i] -= rate * (loss(tried) - loss(new)) / 0.0001
    return new
''',
'''def downhill(loss, numbers, rate):
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slope = (loss(tried) - loss(numbers)) / 0.0001
        tried = numbers.copy()
        tried[i] -= rate * slope
        return tried
''',
'''def downhill(loss, numbers, rate):
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slope = (loss(tried) - loss(numbers)) / 0.0001
        new = numbers.copy()
        new[i] -= rate * slope
    return new
''',
'''def downhill(loss, numbers, rate):
    new = numbers.copy()
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        if loss(tried) < loss(numbers):
            new[i] += rate
        else:
            new[i] -= rate
    return new
''',
'''def downhill(loss, numbers, rate):
    return numbers - rate * loss(numbers)
''',
'''def downhill(loss, numbers, rate):
    slopes = np.zeros(len(numbers))
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slopes[i] = (loss(numbers) - loss(tried)) / 0.0001
    return numbers - rate * slopes
''',
'''def downhill(loss, numbers, rate):
    slopes = np.zeros(len(numbers))
    for i in range(len(numbers)):
        tried = numbers.copy()
        tried[i] += 0.0001
        slopes[i] = (loss(tried) - loss(numbers)) / 0.0001
    numbers = numbers - rate * slopes
''',
],
"find_number": [
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        b[i] += amount
        if says(b) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    changed = b.copy()
    for i in range(len(b)):
        changed[i] += amount
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] = amount
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] -= amount
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] *= amount
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == word:
            place = i
    return place
''',
'''def find_number(says, b, amount, word):
    return [i for i in range(len(b)) if says(b + amount * (np.arange(len(b)) == i)) == word]
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == word:
            return changed
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == word:
            return b[i]
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == word:
            return i + 1
''',
'''def find_number(says, b, amount, word):
    for i in range(1, len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b) - 1):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed).strip() == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) == ' queen':
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] -= 8
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(changed) != word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b.copy()
        changed[i] += amount
        if says(b) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        changed = b + amount
        if says(changed) == word:
            return i
''',
'''def find_number(says, b, amount, word):
    for i in range(len(b)):
        c = b.copy()
        c += amount
        if says(c) == word:
            return i
''',
]}

RIGHT = {"linear": [
'''def linear(inputs, weight, bias):
    return np.matmul(inputs, weight) + bias
''',
'''def linear(x, w, b):
    return np.einsum("...i,io->...o", x, w) + b
''',
'''def linear(x, w, b):
    return np.add(np.dot(x, w), b)
''',
'''def linear(x, w, b):
    flat = x.reshape(-1, len(w))
    y = np.zeros((len(flat), len(b)), np.float32)
    for i, row in enumerate(flat):
        for j in range(len(b)):
            y[i, j] = b[j]
            for k, number in enumerate(row):
                y[i, j] += number * w[k, j]
    return y.reshape(*x.shape[:-1], len(b))
''',
'''def linear(x, w, b):
    return b + np.tensordot(x, w, axes=1)
''',
],
"downhill": [
'''def downhill(loss, numbers, rate):
    def slope(i):
        up, down = numbers.copy(), numbers.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        return (loss(up) - loss(down)) / 2e-5
    return np.array([n - rate * slope(i) for i, n in enumerate(numbers)])
''',
'''def downhill(loss, numbers, rate):
    tiny = 1e-4 * np.eye(len(numbers))
    return numbers - rate * np.array([loss(numbers + row) - loss(numbers) for row in tiny]) / 1e-4
''',
],
"find_number": [
'''def find_number(says, b, amount, word):
    trials = b + amount * np.eye(len(b), dtype=b.dtype)
    return next(i for i, trial in enumerate(trials) if says(trial) == word)
''',
'''def find_number(says, b, amount, word):
    i = 0
    while True:
        trial = np.array(b)
        trial[i] = trial[i] + amount
        if says(trial) == word:
            return i
        i += 1
''',
]}
