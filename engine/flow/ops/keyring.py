"""The keys of a deployment's stored secrets, read when they are first needed."""

from __future__ import annotations

from flow.errors import ConfigError
from flow.ops.deployment import Deployment
from flow.secrets import keys
from flow.secrets.keys import Keys
from flow.store import connections


def for_reading(deployment: Deployment) -> Keys:
    """The keys that exist. Raises `ConfigError` when there are none."""
    return keys.load(deployment.settings.secrets.key_file)


def for_writing(deployment: Deployment) -> Keys:
    """The keys; the first secret of a deployment makes them.

    Raises `ConfigError` when there is no key here but something encrypted in the database: then
    the key is on another host, and a new one would part the secrets.
    """
    file = deployment.settings.secrets.key_file
    if not keys.exist(file) and connections.any_secret(deployment.conn):
        raise ConfigError(
            f"there is no key file {file}, but the database holds secrets of another key",
            "copy the key file from the host where they were stored, with mode 0600",
        )
    return keys.load_or_make(file)
