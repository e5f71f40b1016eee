"""``gramshift kernel``: the kernel matrix of a text file, written to disk tile by tile."""

import time
from pathlib import Path
from typing import Any

from gramshift.commands.outputs import check_outputs
from gramshift.errors import InputError, suggest
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.string_kernel import StringKernel
from gramshift.memory import parse_bytes, size_in_words
from gramshift.parallel import Progress
from gramshift.tables.opening import read_lines
from gramshift.terminal import count_in_words, say


def write_kernel(
    input: str,
    output: Path,
    *,
    kind: str,
    ngram_range: tuple[int, int],
    normalize: bool = False,
    encoding: str = "utf-8",
    memory: str | None = None,
    jobs: int = -1,
    force: bool = False,
    progress: Progress | None = None,
    quiet: bool = False,
    **parameters: Any,
) -> dict[str, Any]:
    """Write the kernel matrix of the lines of a file; all errors come before any work.

    ``parameters`` are those of one kind of kernel, None if they are not given.
    """
    check_outputs({"--output": str(output)}, [input], force=force)
    if output.suffix != ".npy":
        raise InputError(
            f"--output {output}: the kernel matrix is a NumPy array: give a name that ends in .npy"
        )
    if kind not in KERNELS:
        raise InputError(f"--kernel {kind}: there are {', '.join(KERNELS)}{suggest(kind, KERNELS)}")
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in given:
        if name not in KERNELS[kind].own:
            fitting = next(one for one in KERNELS if name in KERNELS[one].own)
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} goes with --kernel {fitting}, not with {kind}; leave it out"
            )
    if memory is not None:
        parse_bytes(memory, name="--memory")
    options = {"normalize": normalize, "memory_limit": memory, "n_jobs": jobs, **given}
    kernel = StringKernel(kind, ngram_range=ngram_range, **options)
    kernel.parse()
    documents = read_lines(input, encoding=encoding)
    n = len(documents)
    n_characters = sum(map(len, documents))
    if not quiet:
        size = size_in_words(8 * n * n)
        read = f"{count_in_words(n, 'document')}, {count_in_words(n_characters, 'character')}"
        say(f"{read}; {output} will take {size}")
    begun = time.perf_counter()
    gram = kernel.gram(documents, out=output, overwrite=True, progress=progress)
    return {
        "output": str(output),
        "documents": n,
        "kind": kind,
        "ngram_range": list(ngram_range),
        "normalize": normalize,
        "dtype": str(gram.dtype),
        "bytes": int(gram.nbytes),
        "seconds": round(time.perf_counter() - begun, 3),
    }
