"""The estimate of a fit: its memory, its time, and the number of pseudo-labels."""

from dataclasses import dataclass, replace
from typing import Any

from gramshift.memory import Needs, check_memory
from gramshift.model.corrections import join_corrections
from gramshift.model.fit import describe_work, is_linear_fit
from gramshift.model.inputs import FitInput
from gramshift.model.kernel_list import KernelList
from gramshift.model.settings import Settings
from gramshift.runtime import Runtime


@dataclass(frozen=True)
class Estimate(Needs):
    """The memory and time that a fit takes, and the number of pseudo-labels of its last round."""

    n_added: int


def estimate_fit(
    settings: Settings,
    kernel_list: KernelList | None,
    given: FitInput,
    corrections: dict[int, Any] | None,
    runtime: Runtime,
    *,
    n_explained: int,
    advice: str,
) -> Estimate:
    """Estimate a fit and a report that explains some documents.

    Raises an error with ``advice`` if there is not enough memory.
    """
    known = corrections or {}
    n_source = int(given.is_source.sum())
    n_target = len(given.labels) - n_source
    n_wanted = len(given.wanted)
    work = describe_work(join_corrections(given, known), kernel_list, runtime)
    n_fits = 1 if corrections is None else 2
    work = replace(work, n_source=n_source, n_target=n_target, n_fits=n_fits)
    if n_explained and given.texts is not None:
        longest = max((len(given.texts.texts[row]) for row in given.wanted.tolist()), default=0)
        work = replace(work, n_explained=min(n_wanted, n_explained), longest=longest)
    linear = is_linear_fit(settings, kernel_list, given)
    needs = check_memory(work, runtime.memory, linear=linear, way=advice)
    n_added = settings.count_added(n_wanted - len(known))[-1]
    return Estimate(needs.n_bytes, needs.seconds, n_added)
