"""The type of operator classes: what happens around every `__init__` of an operator."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from flow.authoring.arguments import Signature
from flow.authoring.defaults import defaults_for, with_base_defaults, with_defaults
from flow.authoring.origin import caller
from flow.errors import InvalidDag


class OperatorType(ABCMeta):
    """The type of operator classes: applies `default_args`, and finds XComArgs in arguments."""

    argument_names: frozenset[str]

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> OperatorType:
        own = namespace.get("__init__")
        if own is not None:
            wrap = with_defaults if any(isinstance(b, cls) for b in bases) else with_base_defaults
            namespace["__init__"] = wrap(own)
        made = super().__new__(cls, name, bases, namespace, **kwargs)
        inherited = [b.argument_names for b in bases if isinstance(b, OperatorType)]
        made.argument_names = frozenset().union(
            Signature(own).names if own is not None else (), *inherited
        )
        return made

    def __call__(cls, *args: Any, **given: Any) -> Any:
        made: Any = cls
        operator = made.__new__(made)
        # At once, past `__setattr__`, which has a look at each.
        operator.__dict__.update(
            origin=caller(), defaults=defaults_for(given), defaults_taken=set()
        )
        made.__init__(operator, *args, **given)
        if "task_id" not in operator.__dict__:
            raise InvalidDag(
                f"{operator.origin}: {cls.__name__} does not call super().__init__()",
                "its __init__ must end in super().__init__(**kwargs)",
            )
        operator.finish()
        return operator
