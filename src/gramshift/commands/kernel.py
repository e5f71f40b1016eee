"""``gramshift kernel``: the gram of a text file, written to disk tile by tile."""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

EXAMPLE = "Example: `gramshift kernel reviews.txt --output gram.npy --kind intersection --ngrams 3-6 --normalize`"


def kernel_command(
    input: Annotated[str, typer.Argument(metavar="INPUT", help="Text file, one document per line; - for standard input.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .npy file to write.")],
    kind: Annotated[str, typer.Option(help="presence, intersection, spectrum, subsequence or local_rank.")] = "presence",
    ngrams: Annotated[str, typer.Option(help="Lengths of the n-grams, for example 5-8 or 4.")] = "5-8",
    decay: Annotated[float | None, typer.Option(help="For subsequence: what a character is worth. Default: 0.5.")] = None,
    max_offset: Annotated[
        int | None, typer.Option(help="For local_rank: how far is far, in characters. Default: 1000.")
    ] = None,
    sigma: Annotated[float | None, typer.Option(help="For local_rank: the width of the kernel. Default: 1.")] = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Similarities from 0 to 1 instead of counts.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the input.")] = "utf-8",
    memory_limit: Annotated[str | None, typer.Option(help="For example '2 GiB'. Default: what is free.")] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep finished tiles in this folder; a run that was stopped goes on when the same command is given again.",
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="threads, or dask: tiles are filled by its workers.")] = "threads",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of Dask: tcp://host:8786. Default: workers on this machine.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    from gramshift.commands.classify.options import parse_ngrams
    from gramshift.commands.progress_bar import progress_bar

    parameters = {"decay": decay, "max_offset": max_offset, "sigma": sigma}
    with progress_bar() as progress:
        result = write_kernel(
            input,
            output,
            kind=kind,
            ngram_range=parse_ngrams(ngrams),
            parameters={name: value for name, value in parameters.items() if value is not None},
            normalize=normalize,
            encoding=encoding,
            memory_limit=memory_limit,
            n_jobs=jobs,
            resume=resume,
            engine=engine,
            scheduler=scheduler,
            force=force,
            progress=progress,
        )
    if as_json:
        print(json.dumps(result))
    else:
        print(f"wrote {result['output']}: {result['dtype']}, {result['documents']} x {result['documents']}", file=sys.stderr)


kernel_command.__doc__ = f"Compare all documents of a text file and write their gram as a NumPy array.\n\n{EXAMPLE}"


def write_kernel(
    source: str,
    output: Path,
    *,
    kind: str,
    ngram_range: tuple[int, int],
    parameters: Mapping[str, Any] | None = None,
    normalize: bool = False,
    encoding: str = "utf-8",
    memory_limit: str | None = None,
    n_jobs: int = -1,
    resume: Path | None = None,
    engine: str = "threads",
    scheduler: str | None = None,
    force: bool = False,
    progress: Any = None,
) -> dict[str, Any]:
    """Write the gram of the lines of ``source`` to ``output``; everything that can be refused is refused before work starts."""
    from gramshift.commands.outputs import check_outputs

    check_outputs({"--output": str(output)}, [source], force=force)
    if output.suffix != ".npy":
        raise ValueError(f"--output {output}: the gram is a NumPy array, give a name that ends in .npy")
    from gramshift.data.readers import read_lines
    from gramshift.model.string_kernel import StringKernel
    from gramshift.runtime.checkpoint import check_folder
    from gramshift.runtime.memory import human
    from gramshift.runtime.resources import check_engine

    options = {"normalize": normalize, "memory_limit": memory_limit, "n_jobs": n_jobs, **(parameters or {})}
    kernel = StringKernel(kind, ngram_range=ngram_range, **options)
    kernel.check_parameters()
    check_engine(engine, scheduler)
    if resume is not None:
        check_folder(resume)
    documents = read_lines(source, encoding=encoding)
    n = len(documents)
    sizes = f"{output} will take {human(8 * n * n)}" + (f", {resume} about half of that" if resume is not None else "")
    print(f"{n} documents, {sum(map(len, documents))} characters; {sizes}", file=sys.stderr)
    begun = time.perf_counter()
    tiles: dict[str, int] = {}

    def follow(stage: str, done: int, total: int) -> None:
        """Tell once how many tiles were there, before the first one is computed."""
        if stage == "gram" and not tiles:
            tiles.update(resumed=done, tiles=total)
            kept = "finished tiles are kept there" if done == 0 else f"{done} of {total} tiles were there already"
            print(f"{resume}: {kept}", file=sys.stderr)
        if progress is not None:
            progress(stage, done, total)

    told = progress if resume is None else follow
    gram = kernel.gram(documents, out=output, resume=resume, engine=engine, scheduler=scheduler, progress=told)
    return {
        "output": str(output),
        "documents": n,
        "kind": kind,
        "ngram_range": list(ngram_range),
        "normalize": normalize,
        "dtype": str(gram.dtype),
        "bytes": int(gram.nbytes),
        "seconds": round(time.perf_counter() - begun, 3),
        **tiles,
    }
