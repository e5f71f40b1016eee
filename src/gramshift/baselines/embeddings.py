"""Vectors of whole texts from a frozen model that the user has on disk, and a logistic regression on them.

Nothing is ever downloaded, and no file but those in the folder that the user names is opened.
"""

import os
from collections.abc import Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.baselines.base import Baseline, Codes, Floats, State, linear_members
from gramshift.baselines.checks import check_count, check_number, require
from gramshift.baselines.word_features import fit_logistic, score
from gramshift.errors import InputError, InputTypeError
from gramshift.runtime.schema import Members, Text
from gramshift.runtime.threads import count_threads

VARIABLE = "GRAMSHIFT_EMBEDDINGS"
TOKENIZER, MODELS = "tokenizer.json", ("model.onnx", "onnx/model.onnx")
PACKAGES, EXTRA = ("onnxruntime", "tokenizers"), "embeddings"
IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"
POOLED, OF_TOKENS = "sentence_embedding", ("last_hidden_state", "token_embeddings")
INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
MOST_TOKENS = 256
LONGEST = 10**6  # that can be asked for
BATCH = 32  # texts that the model sees at once
REMEMBERED = 50_000  # texts


class SentenceVectors:
    """Vectors of texts, of length 1; called with two lists of texts, the cosines between them: a kernel.

    Parameters
    ----------
    model : path
        The folder of a model as sentence-transformers exports it: ``tokenizer.json``, and ``model.onnx`` or
        ``onnx/model.onnx``. None for the folder that the environment variable GRAMSHIFT_EMBEDDINGS names.
    max_tokens : int
        Of longer texts only the beginning is read.
    remembered : int
        Texts whose vectors are kept at most, as calibration and predictions ask for the same ones again.
    """

    def __init__(
        self, model: str | os.PathLike[str] | None = None, *, max_tokens: int = MOST_TOKENS, remembered: int = REMEMBERED
    ) -> None:
        check_count("max_tokens", max_tokens, most=LONGEST)
        check_count("remembered", remembered, least=0)
        self.model, self.max_tokens, self.remembered = find_folder(model), int(max_tokens), int(remembered)
        self._files = find_files(self.model)
        self._opened: _Opened | None = None
        self._known: dict[str, Floats] = {}
        self._digest: str | None = None

    def __call__(self, texts: Sequence[str], others: Sequence[str]) -> Floats:
        """The cosine of each text with each of the others; 0 for a text without any token."""
        rows = self.vectors(texts)
        cosines: Floats = rows @ (rows if others is texts else self.vectors(others)).T
        return cosines

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_opened": None, "_known": {}}  # a copy opens the model for itself

    def __repr__(self) -> str:
        return f"SentenceVectors({str(self.model)!r})"

    @property
    def digest(self) -> str:
        """What the tokenizer and the model are told by, wherever they lie."""
        if self._digest is None:
            told = sha256()
            for path in self._files:
                with path.open("rb") as file:
                    told.update(file_digest(file, "sha256").digest())
            self._digest = told.hexdigest()
        return self._digest

    def vectors(self, texts: Sequence[str]) -> Floats:
        """A row per text: the mean over its tokens, or what the model itself makes of them, brought to length 1."""
        if self._opened is None:
            self._opened = _Opened(self._files[0], self._files[1], self.max_tokens)
        fresh = list(dict.fromkeys(text for text in texts if text not in self._known))
        found = dict(zip(fresh, self._opened.compute(fresh), strict=True))
        result = np.zeros((len(texts), self._opened.n_dimensions))
        for row, text in enumerate(texts):
            result[row] = found[text] if text in found else self._known[text]
        if len(self._known) + len(found) > self.remembered:
            self._known.clear()
        if len(found) <= self.remembered:
            self._known.update(found)
        return result


def find_folder(model: Any) -> Path:
    """The folder that the user named, here or in the environment."""
    if model is not None and not isinstance(model, str | os.PathLike):
        raise InputTypeError(f"model={model!r}: give the path of a folder with {TOKENIZER} and {MODELS[0]}")
    named = model if model is not None else os.environ.get(VARIABLE)
    if not named:
        raise InputError(f"no folder of a sentence model is named: give model=FOLDER, or set {VARIABLE}=FOLDER")
    folder = Path(named)
    if not folder.is_dir():
        where = "model" if model is not None else VARIABLE
        raise InputError(f"{where}={str(folder)!r} is no folder; name one with {TOKENIZER} and {MODELS[0]}")
    return folder


def find_files(folder: Path) -> list[Path]:
    """The tokenizer, the model, and parts of the model beside it, as large ones have them (model.onnx_data)."""
    model = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    if not (folder / TOKENIZER).is_file():
        raise InputError(f"{folder} has no {TOKENIZER}; export the model with its tokenizer, as sentence-transformers does")
    if model is None:
        raise InputError(f"{folder} has neither {' nor '.join(MODELS)}; export the model to ONNX")
    parts = sorted(path for path in model.parent.glob(f"{model.name}?*") if path.is_file())
    return [folder / TOKENIZER, model, *parts]


class _Opened:
    """A tokenizer and a model in memory."""

    def __init__(self, tokenizer: Path, model: Path, max_tokens: int) -> None:
        require("SentenceVectors", PACKAGES, EXTRA)
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = count_threads(-1)  # left alone it would take cores that we may not use
        try:
            self.tokenizer = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # of no class of its own
            raise InputError(f"{tokenizer} is no tokenizer: {_line(error)}") from error
        try:
            self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a dozen classes, which share no other base
            raise InputError(f"{model} is no model that onnxruntime can read: {_line(error)}") from error
        self.model = model
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_tokens)
        self.types = {one.name: INTEGERS.get(one.type) for one in self.session.get_inputs()}
        strange = [name for name, kind in self.types.items() if name not in (IDS, MASK, TYPES) or kind is None]
        if strange or IDS not in self.types:
            asked = ", ".join(self.types)
            raise InputError(f"{model} asks for {asked}; a sentence model takes whole numbers as {IDS}, {MASK} and {TYPES}")
        outputs = [one.name for one in self.session.get_outputs()]
        known = [name for name in (POOLED, *OF_TOKENS) if name in outputs]
        if not known and len(outputs) > 1:
            raise InputError(f"{model} gives {', '.join(outputs)}; a sentence model gives {POOLED} or {' or '.join(OF_TOKENS)}")
        self.output = (known or outputs)[0]
        self.n_dimensions = len(self._run([[0]])[0])

    def compute(self, texts: list[str]) -> Floats:
        """A row per text, in batches of texts of about one length; texts without tokens have 0 throughout."""
        whole = [text.encode("utf-8", "replace").decode() for text in texts]  # half characters cannot be handed over
        tokens = [one.ids for one in self.tokenizer.encode_batch(whole)]
        order = sorted((row for row in range(len(texts)) if tokens[row]), key=lambda row: len(tokens[row]))
        result = np.zeros((len(texts), self.n_dimensions))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            result[rows] = self._run([tokens[row] for row in rows])
        lengths = np.linalg.norm(result, axis=1, keepdims=True)
        unit: Floats = np.divide(result, lengths, out=result, where=lengths > 0)
        return unit

    def _run(self, tokens: list[list[int]]) -> Floats:
        """The vectors of one batch; what is filled up to the longest text counts nothing."""
        shape = len(tokens), max(map(len, tokens))
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, some in enumerate(tokens):
            ids[row, : len(some)], mask[row, : len(some)] = some, 1
        given = {IDS: ids, MASK: mask, TYPES: np.zeros_like(ids)}
        try:
            (found,) = self.session.run([self.output], {name: given[name].astype(kind) for name, kind in self.types.items()})
        except Exception as error:
            raise InputError(f"{self.model} fails on {shape[1]} tokens, perhaps too many: {_line(error)}") from error
        found = np.asarray(found, np.float64)
        expected = 2 if self.output == POOLED else 3
        if found.ndim != expected or found.shape[: expected - 1] != shape[: expected - 1]:
            wanted = "a row per text" if expected == 2 else "a row per token"
            raise InputError(f"{self.model} gives {self.output} of shape {found.shape} for {shape} tokens; due is {wanted}")
        if not np.isfinite(found[mask > 0] if expected == 3 else found).all():
            raise InputError(f"{self.model} gives numbers that are not finite")
        if expected == 2:
            return found
        means: Floats = np.where(mask[:, :, None] > 0, found, 0).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return means


def _line(error: Exception) -> str:
    """The beginning of what another library says, on one line."""
    return " ".join(str(error).split())[:200]


class EmbeddingLogistic(Baseline):
    """Logistic regression on vectors from a frozen sentence model. It looks at no target document.

    A saved file holds the coefficients and what the model's files are told by, never a path: whoever loads it names the
    folder, by GRAMSHIFT_EMBEDDINGS or ``set_params(model=...)``, and other files than those of the fit are refused. Needs
    onnxruntime and tokenizers: ``pip install 'gramshift[embeddings]'``.

    Parameters
    ----------
    model : path
        A folder with ``tokenizer.json`` and ``model.onnx`` or ``onnx/model.onnx``; None for that of the environment variable
        GRAMSHIFT_EMBEDDINGS. Nothing is downloaded.
    C : float
        Inverse of the penalty.
    max_tokens : int
        Of longer texts only the beginning is read.
    """

    needs_target = False
    local = ("model",)

    def __init__(self, model: str | os.PathLike[str] | None = None, *, C: float = 1.0, max_tokens: int = MOST_TOKENS) -> None:
        self.model = model
        self.C = C
        self.max_tokens = max_tokens

    def _check_parameters(self) -> None:
        check_number("C", self.C)
        check_count("max_tokens", self.max_tokens, most=LONGEST)

    def _check_task(self, n_classes: int, n_target: int) -> None:
        super()._check_task(n_classes, n_target)
        self.check_files()

    def check_files(self) -> None:
        """Raise an error if a package, the folder or a file in it is missing."""
        require("EmbeddingLogistic", PACKAGES, EXTRA)
        find_files(find_folder(self.model))

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        vectors = self._open()
        coefficients, intercepts = fit_logistic(vectors.vectors(source), codes, C=self.C)
        return {"digest": vectors.digest, "coefficients": coefficients, "intercepts": intercepts}

    def _members(self) -> Members:
        return {"digest": Text(64), **linear_members("dimensions")}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        vectors = self._open()
        if vectors.digest != state["digest"]:
            raise InputError(
                f"{vectors.model} is not the sentence model of the fit: its files differ; name the folder of that one"
            )
        found, coefficients = vectors.vectors(texts), state["coefficients"]
        if found.shape[1] != len(coefficients):
            words = f"{found.shape[1]} numbers for a text, and there are coefficients for {len(coefficients)}"
            raise InputError(f"{vectors.model} gives {words}; it is not the sentence model of the fit")
        return score(found, (coefficients, state["intercepts"]))

    def _try(self, state: State) -> Floats:
        """Try the numbers alone: no file is opened because a model file is."""
        return score(np.zeros((2, len(state["coefficients"]))), (state["coefficients"], state["intercepts"]))

    def _open(self) -> SentenceVectors:
        """The model of the folder that is named now."""
        held: SentenceVectors | None = getattr(self, "_vectors", None)
        if held is None or (held.model, held.max_tokens) != (find_folder(self.model), self.max_tokens):
            held = self._vectors = SentenceVectors(self.model, max_tokens=self.max_tokens)
        return held
