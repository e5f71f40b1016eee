"""What happens to a text before its characters are counted."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class TextSteps:
    """Lower-case, bring into a Unicode form, make every white-space run one blank, strip: each can be turned off."""

    strip: bool = True
    lowercase: bool = True
    collapse_whitespace: bool = True
    unicode_form: str | None = None

    def __post_init__(self) -> None:
        if self.unicode_form not in FORMS:
            raise ValueError(f"unicode_form={self.unicode_form!r}: must be one of {', '.join(map(repr, FORMS))}")

    def apply(self, texts: Iterable[str]) -> list[str]:
        for step in self._steps():
            texts = map(step, texts)
        return list(texts)

    def _steps(self) -> list[Callable[[str], str]]:
        steps: list[Callable[[str], str]] = []
        if self.lowercase:
            steps.append(str.lower)
        if self.unicode_form is not None:
            form = self.unicode_form
            steps.append(lambda text: unicodedata.normalize(form, text))  # type: ignore[arg-type]
        if self.collapse_whitespace and self.strip:
            steps.append(lambda text: " ".join(text.split()))
        elif self.collapse_whitespace:
            steps.append(lambda text: _SPACES.sub(" ", text))
        elif self.strip:
            steps.append(str.strip)
        return steps
