"""A sentence model of a few kilobytes, made when tests need it: each word has a vector, and there is nothing else to it."""

import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

DIMENSIONS = 48
UNKNOWN, CLS, SEP = "[UNK]", "[CLS]", "[SEP]"


def make_words(texts):
    """The words of texts, each once, and the three that stand for something else first."""
    return [UNKNOWN, CLS, SEP, *sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})]


def make_table(n_words, seed=0):
    return np.random.default_rng(seed).normal(size=(n_words, DIMENSIONS)).astype(np.float32)


def write_tokenizer(folder, words, *, special=False):
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(words)}, UNKNOWN))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    if special:
        tokenizer.post_processor = TemplateProcessing(single=f"{CLS} $A {SEP}", special_tokens=[(CLS, 1), (SEP, 2)])
    tokenizer.enable_padding(length=9)  # as exported files often have it: it must not count
    tokenizer.enable_truncation(7)
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(
    path, table, *, inputs=("input_ids", "attention_mask"), output="last_hidden_state", pooled=False, kind=TensorProto.INT64
):
    """A look-up of token ids; ``pooled``: the sum over the tokens that the mask leaves, as the model's own sentence vector."""
    shape = ["batch", "tokens"]
    given = [helper.make_tensor_value_info(name, kind, shape) for name in inputs]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked_up" if pooled else output], axis=0)]
    tables = [numpy_helper.from_array(table, "table")]
    if pooled:
        tables.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
        tables.append(numpy_helper.from_array(np.array([2], np.int64), "last"))
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["counts"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["counts", "last"], ["weights"]),
            helper.make_node("Mul", ["looked_up", "weights"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "axis"], [output], keepdims=0),
        ]
    rank = ["batch", DIMENSIONS] if pooled else [*shape, DIMENSIONS]
    result = [helper.make_tensor_value_info(output, TensorProto.FLOAT, rank)]
    graph = helper.make_graph(nodes, "small", given, result, tables)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def make_model(folder, texts, *, seed=0):
    """A folder that has what a sentence model needs; returns the words and the table of their vectors."""
    words = make_words(texts)
    table = make_table(len(words), seed)
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder, words)
    write_model(folder / "model.onnx", table)
    return words, table
