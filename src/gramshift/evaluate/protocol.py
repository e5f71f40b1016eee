"""Which domains are learnt from and which one is labelled, in the paper's notation."""

from dataclasses import dataclass

LETTERS = "BDEK"


@dataclass(frozen=True)
class Setting:
    """For example D-B or DEK-B: source domains, target domain."""

    source: str
    target: str

    @property
    def name(self) -> str:
        return f"{self.source}-{self.target}"

    @property
    def letters(self) -> str:
        """All its domains, in the order of the data."""
        return "".join(letter for letter in LETTERS if letter in self.source + self.target)


SINGLE = [Setting(source, target) for target in LETTERS for source in LETTERS if source != target]
MULTI = [Setting(LETTERS.replace(target, ""), target) for target in LETTERS]
GROUPS = {"all": MULTI + SINGLE, "single": SINGLE, "multi": MULTI}


def parse_settings(value: str) -> list[Setting]:
    """ "all", "single", "multi", or names such as "D-B,DEK-B"; each once, in the order of the paper's tables."""
    known = {setting.name: setting for setting in GROUPS["all"]}
    chosen: set[Setting] = set()
    for name in filter(None, (part.strip() for part in value.split(","))):
        if name.lower() in GROUPS:
            chosen |= set(GROUPS[name.lower()])
        elif name.upper() in known:
            chosen.add(known[name.upper()])
        else:
            raise ValueError(f"setting {name!r} is not known; there are {', '.join([*GROUPS, *known])}")
    if not chosen:
        raise ValueError(f"no setting is named; there are {', '.join([*GROUPS, *known])}")
    return [setting for setting in GROUPS["all"] if setting in chosen]
