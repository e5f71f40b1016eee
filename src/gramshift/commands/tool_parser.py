"""The parser of the smaller commands: demo, explain, fetch, info, kernel and sample.

As in ``parser``, commands import the modules that compute when they run.
"""

from pathlib import Path
from typing import Annotated

import typer

from gramshift.commands import command_options as shared
from gramshift.commands.command_options import check_json, file_option, json_option, option
from gramshift.errors import InputError
from gramshift.progress import progress_bar
from gramshift.terminal import print_json, say, show, show_lines, tell

DATA_SETS = ("sentiment",)


def demo_command(
    output: Annotated[
        Path, option("Folder for the two files and the report.", "--output", "-o")
    ] = Path("gramshift-demo"),
    as_json: Annotated[bool, json_option("the figures")] = False,
) -> None:
    """Label 420 film reviews from 420 reviews of kitchen tools, and the other way round.

    A report to open in a browser is written as well.

    Example: `gramshift demo`
    """
    from gramshift.commands.demo import check_demo, describe, run_demo, write_demo

    check_demo(output)
    result = run_demo() | write_demo(output)
    if as_json:
        print_json(result)
    else:
        show(describe(result))


def explain_command(
    text: Annotated[
        str | None, typer.Argument(help="The text to explain, in quotes.", metavar="TEXT")
    ] = None,
    model: shared.Model = ...,  # type: ignore[assignment]
    input: Annotated[
        str | None,
        file_option(
            "File of documents to explain, instead of a text; - for stdin.", "--input", "-i"
        ),
    ] = None,
    html: Annotated[
        str | None, file_option("Also write an HTML file with the words marked.")
    ] = None,
    top: Annotated[
        int, option("How many words for and against the label, and training documents, to show.")
    ] = 5,
    column: shared.Text = None,
    format: shared.Format = None,
    encoding: shared.Encoding = "utf-8",
    force: shared.Force = False,
    as_json: Annotated[bool, json_option("the explanations")] = False,
) -> None:
    """Show the words of a text that count for its label and against it.

    The most influential training documents are shown as well.

    Example: `gramshift explain --model model.gramshift "a great film, sadly too long"`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.explain import explain

    with progress_bar(["report"] if input is None else ["reading", "report"]) as progress:
        result = explain(**given, progress=progress)
    if as_json:
        print_json(result["explanations"])
    else:
        show("\n\n".join(result["texts"]))
    if html is not None:
        say(f"page in {html}")


def fetch_command(
    name: Annotated[str, typer.Argument(help="Data set to download: sentiment.")],
    output: Annotated[Path, option("Folder to unpack it into.", "--output", "-o")] = Path("."),
    url: Annotated[
        str | None, option("Address to download from, instead of its home page.")
    ] = None,
    as_json: Annotated[bool, json_option("a summary")] = False,
) -> None:
    """Download the Multi-Domain Sentiment Dataset from its home page.

    Its labelled part is unpacked and checked.

    Example: `gramshift fetch sentiment --output data`
    """
    from gramshift.datasets.fetch import URL, fetch_sentiment

    if name not in DATA_SETS:
        raise InputError(f"data set {name!r} is not known; there is {', '.join(DATA_SETS)}")
    say(f"fetching {url or URL} into {output}")
    with progress_bar() as progress:
        result = fetch_sentiment(output, url=url or URL, pinned=url is None, progress=progress)
    for warning in result["warnings"]:
        say(f"gramshift: {warning}")
    if as_json:
        print_json(result)
    else:
        say(f"{result['reviews']} reviews in {result['folder']}")


def info_command(
    model: Annotated[str, typer.Argument(help=shared.MODEL_HELP, metavar="MODEL")],
    as_json: Annotated[bool, json_option("the description")] = False,
) -> None:
    """Check a model file and describe it.

    It shows parameters, classes, sizes, date and versions, and if the file contains texts.

    Example: `gramshift info model.gramshift`
    """
    from gramshift.commands.info import describe_model, in_words

    found = describe_model(model)
    if as_json:
        print_json(found)
    else:
        show_lines(in_words(found))


def kernel_command(
    input: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="Text file, one document per line; - for stdin."),
    ],
    output: Annotated[Path, option("The .npy file to write.", "--output", "-o")],
    kind: Annotated[
        str,
        option(
            f"{shared.KERNEL_HELP}: presence, intersection, spectrum, subsequence or local_rank.",
            "--kernel",
        ),
    ] = "presence",
    ngrams: Annotated[str, option(f"{shared.NGRAMS_HELP}.")] = "5-8",
    decay: Annotated[
        float | None, option("For subsequence: the weight of each character. Default: 0.5.")
    ] = None,
    max_offset: Annotated[
        int | None, option("For local_rank: the largest distance, in characters. Default: 1000.")
    ] = None,
    sigma: Annotated[
        float | None, option("For local_rank: the width of the kernel. Default: 1.")
    ] = None,
    normalize: Annotated[
        bool, option("Write similarities from 0 to 1 instead of counts.", "--normalize")
    ] = False,
    encoding: shared.Encoding = "utf-8",
    memory: Annotated[str | None, option(shared.MEMORY_HELP, default="all free memory")] = None,
    jobs: shared.Jobs = -1,
    force: shared.Force = False,
    as_json: Annotated[bool, json_option("a summary")] = False,
) -> None:
    """Compare all documents of a text file and write their kernel matrix as a NumPy array.

    Example: `gramshift kernel reviews.txt --output kernel.npy --kernel intersection --ngrams 3-6
    --normalize`
    """
    from gramshift.commands.classify.options import parse_ngrams
    from gramshift.commands.kernel import write_kernel

    with progress_bar(["index", "gram"]) as progress:
        result = write_kernel(
            input,
            output,
            kind=kind,
            ngram_range=parse_ngrams(ngrams),
            decay=decay,
            max_offset=max_offset,
            sigma=sigma,
            normalize=normalize,
            encoding=encoding,
            memory=memory,
            n_jobs=jobs,
            force=force,
            progress=progress,
        )
    if as_json:
        print_json(result)
    else:
        n = result["documents"]
        say(f"wrote {result['output']}: {result['dtype']}, {n} x {n}")


def sample_command(
    input: Annotated[
        str, typer.Argument(metavar="FILE", help="Output of gramshift classify or predict.")
    ],
    output: Annotated[
        str,
        file_option("CSV file to write, with an empty column label to fill in.", "--output", "-o"),
    ],
    doubtful: Annotated[
        int | None,
        option(
            "Number of uncertain documents that differ from each other, to train on.", default="50"
        ),
    ] = None,
    random: Annotated[
        int | None, option("Number of documents drawn at random, to measure with.")
    ] = None,
    seed: Annotated[int, option("Seed of the random draw.")] = 0,
    corrections: Annotated[
        str | None,
        option(
            "File of corrections (columns id and label); documents labelled there are not drawn."
        ),
    ] = None,
    text: shared.Text = None,
    id: shared.Id = None,
    format: shared.Format = None,
    encoding: shared.Encoding = "utf-8",
    force: Annotated[bool, option("Replace an output that exists.", "--force")] = False,
    as_json: Annotated[bool, json_option("the result")] = False,
) -> None:
    """Draw documents to label by hand, for classify --corrections.

    Doubtful documents are there to learn from, random ones to measure accuracy.

    Example: `gramshift sample labels.csv --doubtful 50 --output to-label.csv`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.sample import draw_sample, in_words

    check_json(as_json, output, "the sample")
    with progress_bar(["reading"]) as progress:
        result = draw_sample(**given, progress=progress)
    if as_json:
        print_json(result)
    else:
        tell(in_words(result))
