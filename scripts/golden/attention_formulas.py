"""Methods on attention maps A[layer][head][query][key], their gradients G and word vectors, in plain loops."""

import numpy as np

READOUT = 0  # the row methods read: the first token


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def matrix(n, entry):
    return np.array([[entry(i, j) for j in range(n)] for i in range(n)], dtype=np.float64)


def head_mean(maps):
    return matrix(maps.shape[1], lambda i, j: mean(head[i][j] for head in maps))


def product(left, right):
    n = len(left)
    return matrix(n, lambda i, j: sum(left[i][k] * right[k][j] for k in range(n)))


def with_residual(maps):
    """Head mean plus identity, each row divided by its sum."""
    average = head_mean(maps)
    n = len(average)
    added = matrix(n, lambda i, j: average[i][j] + (i == j))
    return matrix(n, lambda i, j: added[i][j] / sum(added[i]))


def rollout_matrix(A):
    joint = np.eye(A[0].shape[1])
    for maps in A:
        joint = product(with_residual(maps), joint)
    return joint


def gradcam_of_readout_row(maps, gradients):
    """The ViT definition: a head's weight is the mean gradient of the read-out row without its own column."""
    heads, n, _ = maps.shape
    scores = np.zeros(n)
    others = [j for j in range(n) if j != READOUT]
    weights = [mean(gradients[h][READOUT][j] for j in others) for h in range(heads)]
    for j in others:
        scores[j] = max(0.0, mean(weights[h] * maps[h][READOUT][j] for h in range(heads)))
    return scores


def gradcam_of_whole_map(maps, gradients):
    """The BERT definition before and after its min-max over the whole matrix; the entry (c, c) is zeroed."""
    heads, n, _ = maps.shape
    weights = [mean(gradients[h][i][j] for i in range(n) for j in range(n)) for h in range(heads)]
    cam = matrix(n, lambda i, j: max(0.0, mean(weights[h] * maps[h][i][j] for h in range(heads))))
    low, high = min(cam.flat), max(cam.flat)
    scaled = matrix(n, lambda i, j: (cam[i][j] - low) / (high - low) if high > low else 0.0)
    raw_row, scaled_row = cam[READOUT].copy(), scaled[READOUT].copy()
    raw_row[READOUT] = scaled_row[READOUT] = 0.0
    return raw_row, scaled_row


def grad_sam(A, G):
    layers, heads, n = len(A), A[0].shape[0], A[0].shape[1]
    by_query, by_key = np.zeros(n), np.zeros(n)
    for maps, gradients in zip(A, G):
        for h in range(heads):
            for i in range(n):
                for j in range(n):
                    share = maps[h][i][j] * max(0.0, gradients[h][i][j]) / (layers * heads * n)
                    by_query[i] += share
                    by_key[j] += share
    return by_query, by_key


def gae_matrix(A, G):
    """Rules 5 and 6 of ICCV'21, kept as R - I so that nothing small is lost."""
    n = A[0].shape[1]
    above_identity = np.zeros((n, n))
    for maps, gradients in zip(A, G):
        heads = range(maps.shape[0])
        step = matrix(n, lambda i, j: mean(max(0.0, gradients[h][i][j] * maps[h][i][j]) for h in heads))
        above_identity = above_identity + step + product(step, above_identity)
    return above_identity


def maximum_flow(capacity, source, sink):
    """Edmonds-Karp on whole numbers, hence exact."""
    residual = [dict(edges) for edges in capacity]
    total = 0
    while True:
        parent, queue = {source: None}, [source]
        for node in queue:
            for other, room in residual[node].items():
                if room > 0 and other not in parent:
                    parent[other] = node
                    queue.append(other)
        if sink not in parent:
            return total
        path, node = [], sink
        while parent[node] is not None:
            path.append((parent[node], node))
            node = parent[node]
        push = min(residual[a][b] for a, b in path)
        for a, b in path:
            residual[a][b] -= push
            residual[b][a] = residual[b].get(a, 0) + push
        total += push


def attention_flow(A):
    """Node (layer, token) is layer * n + token, layer 0 the input; flow from every top token to every input."""
    n, layers, one = A[0].shape[1], len(A), 2**60
    capacity = [{} for _ in range((layers + 1) * n)]
    for layer, maps in enumerate(A):
        weights = with_residual(maps)
        for i in range(n):
            for j in range(n):
                capacity[(layer + 1) * n + i][layer * n + j] = round(float(weights[i][j]) * one)
    flow = matrix(n, lambda u, v: maximum_flow(capacity, layers * n + u, v) / one)
    return flow, matrix(n, lambda u, v: flow[u][v] / sum(flow[u]))


def attention_scores(case, values):
    layers = sum(name.startswith("attention_gradient.") for name in values)
    A = [values[f"attention.{layer}"] for layer in range(layers)]
    G = [values[f"attention_gradient.{layer}"] for layer in range(layers)]
    joint, flow, relevance = rollout_matrix(A), attention_flow(A), gae_matrix(A, G)
    whole, whole_scaled = gradcam_of_whole_map(A[-1], G[-1])
    by_query, by_key = grad_sam(A, G)
    average = head_mean(A[-1])
    scores = {
        "raw_attention": average[READOUT], "rollout": joint[READOUT], "rollout.matrix": joint,
        "attention_flow": flow[1][READOUT], "attention_flow.matrix": flow[1],
        "attention_flow.unnormalised_matrix": flow[0],
        "gradcam.vit": gradcam_of_readout_row(A[-1], G[-1]), "gradcam.bert": whole_scaled,
        "gradcam.bert_without_min_max": whole,
        "grad_sam.query": by_query, "grad_sam.key": by_key,
        "gae.matrix": relevance + np.eye(len(relevance)), "gae.matrix_minus_identity": relevance,
    }
    if case.mean_pooling:
        rows = {"raw_attention": average, "rollout": joint, "attention_flow": flow[1], "gae": relevance}
        for name, table in rows.items():
            scores[f"{name}.mean_of_rows"] = np.array([mean(table[:, j]) for j in range(len(table))])
    return scores


def gradient_scores(values):
    vectors, gradient = values["word_embedding"], values["word_embedding_gradient"]
    return {
        "saliency.l1": np.array([sum(abs(g) for g in row) for row in gradient]),
        "saliency.l2": np.array([sum(g * g for g in row) ** 0.5 for row in gradient]),
        "gradient_x_input": np.array([sum(x * g for x, g in zip(*rows)) for rows in zip(vectors, gradient)]),
    }
