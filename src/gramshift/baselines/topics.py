"""Topics of documents by latent Dirichlet allocation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi
from sklearn.decomposition import LatentDirichletAllocation

Floats = NDArray[np.float64]


def fit_topics(counts: Any, n_topics: int, random_state: int) -> Floats:
    """A row per topic: how much it has of each word."""
    model = LatentDirichletAllocation(n_topics, learning_method="online", batch_size=256, random_state=random_state)
    components: Floats = model.fit(counts).components_
    return components


def share_topics(counts: Any, topics: Floats) -> Floats:
    """The share of each topic in each document, under topics found before."""
    model = LatentDirichletAllocation(len(topics))
    model.components_, model.doc_topic_prior_, model.n_features_in_ = topics, 1 / len(topics), topics.shape[1]
    model.exp_dirichlet_component_ = np.exp(psi(topics) - psi(topics.sum(axis=1, keepdims=True)))
    shares: Floats = model.transform(counts)
    return shares
