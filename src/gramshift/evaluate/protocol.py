"""The paper's protocol: its settings and the published figures."""

from dataclasses import dataclass

from gramshift.methods import parse_names

LETTERS = "BDEK"


@dataclass(frozen=True)
class Setting:
    """Source domains and a target domain, for example D-B or DEK-B."""

    source: str
    target: str

    @property
    def name(self) -> str:
        """Source and target, as the paper writes them."""
        return f"{self.source}-{self.target}"

    @property
    def letters(self) -> str:
        """All domains of the setting, in the order of the data."""
        return "".join(letter for letter in LETTERS if letter in self.source + self.target)


SINGLE = [Setting(source, target) for target in LETTERS for source in LETTERS if source != target]
MULTI = [Setting(LETTERS.replace(target, ""), target) for target in LETTERS]
GROUPS = {"all": MULTI + SINGLE, "single": SINGLE, "multi": MULTI}


def parse_settings(value: str) -> list[Setting]:
    """Return the settings named by "all", "single", "multi" or names such as "D-B,DEK-B".

    Each is returned once, in the order of the paper's tables.
    """
    known = {setting.name: setting for setting in GROUPS["all"]}
    groups = {name: [setting.name for setting in settings] for name, settings in GROUPS.items()}
    return [known[name] for name in parse_names("setting", value, known, groups)]


_MULTI = {  # to B, D, E, K
    ("SST", None): "76.3 78.3 83.9 85.2",
    ("KE-Meta", None): "77.9 80.4 78.9 82.5",
    ("plain", "presence"): "82.0 81.9 83.6 85.1",
    ("plain", "intersection"): "80.7 80.7 83.0 85.2",
    ("adapted", "presence"): "82.9 83.2 84.8 86.0",
    ("adapted", "intersection"): "82.5 82.9 84.5 86.1",
    ("tkc", "presence"): "84.1 84.0 85.4 86.9",
    ("tkc", "intersection"): "83.8 83.5 85.0 87.1",
}
_ELSEWHERE = {  # DCI, cosine variant: published by its authors with their program
    ("DCI", None): "83.45 80.05 80.75 82.25 80.1 80.6 83.7 85.45 86.0 84.3 85.6 87.8",
}
_SINGLE = {  # D-B E-B K-B, B-D E-D K-D, B-E D-E K-E, B-K D-K E-K
    ("SFA", None): "79.8 78.3 75.2 81.4 77.2 78.5 73.5 76.7 85.1 79.1 80.8 86.8",
    ("CORAL", None): "78.3 - - - - 73.9 76.3 - - - - 83.6",
    ("TR-TrAdaBoost", None): "74.7 69.1 70.6 79.6 71.8 74.4 74.9 75.9 83.1 77.8 75.7 83.7",
    ("plain", "presence"): "82.0 72.4 72.7 81.4 74.9 73.6 71.3 74.4 83.9 74.6 75.4 84.9",
    ("plain", "intersection"): "82.1 72.4 72.8 81.3 75.1 72.9 71.8 74.5 84.4 74.9 75.1 84.9",
    ("adapted", "presence"): "83.3 74.5 74.3 83.0 76.9 74.9 74.0 76.0 85.4 77.6 77.3 86.0",
    ("adapted", "intersection"): "83.2 74.2 74.0 82.8 76.4 75.1 74.2 75.9 85.2 77.6 77.3 85.9",
    ("tkc", "presence"): "84.9 78.5 76.6 84.0 79.6 76.4 76.6 77.1 86.4 79.6 80.9 87.0",
    ("tkc", "intersection"): "84.5 78.5 75.8 84.2 79.1 76.5 76.7 76.8 86.4 79.4 80.5 87.0",
}

# the paper's own baselines are the figures of kernel discriminant analysis, EACL 2017
for _rows in (_MULTI, _SINGLE):
    _rows |= {
        ("KDA 0/1", None): _rows["plain", "presence"],
        ("KDA ∩", None): _rows["plain", "intersection"],
    }

PUBLISHED: dict[tuple[str, str | None, str], float] = {
    (method, kernel, setting.name): float(figure)
    for settings, rows in ((MULTI, _MULTI), (SINGLE, _SINGLE), (SINGLE, _ELSEWHERE))
    for (method, kernel), figures in rows.items()
    for setting, figure in zip(settings, figures.split(), strict=True)
    if figure != "-"
}
"""The published accuracy by method (or baseline), kernel and setting."""
PUBLISHED_RIVALS = {"multi": ["SST", "KE-Meta"], "single": ["SFA", "CORAL", "TR-TrAdaBoost"]}
