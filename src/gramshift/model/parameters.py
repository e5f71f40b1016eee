"""scikit-learn's protocol for parameters, without importing scikit-learn: that takes longer than most grams."""

import inspect
from typing import Any, Self


class Parameters:
    """get_params and set_params over the constructor's arguments, as scikit-learn's own estimators have them."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls.__init__)
        return {name: parameter.default for name, parameter in signature.parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments as they are now."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self, **params: Any) -> Self:
        """Change some of them."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(two_d_array=False, string=True),
        )
