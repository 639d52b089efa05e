"""Settings: from the command line, else from ``.caffe-guard.toml`` or ``[tool.caffe-guard]`` in ``pyproject.toml``.

The nearest folder that has one counts, from the working directory upwards. A settings file can choose and rate rules;
it can never load code.
"""

from __future__ import annotations

import os
import sys

from caffe_guard.diagnostic import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OWN_FILE = ".caffe-guard.toml"
PROJECT_FILE = "pyproject.toml"


class ConfigError(Exception):
    """A settings file or option that cannot be used; the message is one line."""


class Settings:
    """What a run of lint was asked to do. ``severities`` maps codes or names to the severity to use instead."""

    __slots__ = ("data", "dialect", "exclude", "fail_on", "ignore", "origin", "select", "severities")

    def __init__(self) -> None:
        self.select: tuple[str, ...] = ()
        self.ignore: tuple[str, ...] = ()
        self.exclude: tuple[str, ...] = ()
        self.severities: dict[str, Severity] = {}
        self.fail_on = Severity.ERROR
        self.dialect = "auto"
        self.data = True
        self.origin: str | None = None

    def selects(self, code: str, name: str) -> bool:
        """Whether a rule is to be reported: chosen by ``select`` (empty: all), and not ignored."""
        if self.select and not any(matches(word, code, name) for word in self.select):
            return False
        return not any(matches(word, code, name) for word in self.ignore)

    def severity_of(self, code: str, name: str) -> Severity | None:
        """The severity the user gave a rule; None for the rule's own."""
        return self.severities.get(code, self.severities.get(name))


def matches(word: str, code: str, name: str) -> bool:
    """Whether a word of the user names a rule: a code, the beginning of a code, or a name."""
    return code.startswith(word.upper()) or name == word.lower()


def find_settings_file(start: str) -> str | None:
    """The settings file that counts for a folder: the nearest, upwards."""
    folder = os.path.abspath(start)
    while True:
        own = os.path.join(folder, OWN_FILE)
        if os.path.isfile(own):
            return own
        project = os.path.join(folder, PROJECT_FILE)
        if os.path.isfile(project) and _mentions_us(project):
            return project
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _mentions_us(path: str) -> bool:
    """A cheap look before the TOML reader is loaded."""
    try:
        with open(path, "rb") as stream:
            return b"[tool.caffe-guard" in stream.read()
    except OSError:
        return False


def load_settings(path: str | None) -> Settings:
    """The settings of a file; the defaults for None. Raises ConfigError."""
    settings = Settings()
    if path is None:
        return settings
    table = _read_table(path)
    settings.origin = path
    for key, value in table.items():
        _apply(settings, key, value, path)
    return settings


def _read_table(path: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, "rb") as stream:
            table: dict[str, Any] = tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if os.path.basename(path) == PROJECT_FILE:
        table = table.get("tool", {}).get("caffe-guard", {})
    return table


def _apply(settings: Settings, key: str, value: Any, path: str) -> None:
    if key in ("select", "ignore", "exclude"):
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise ConfigError(f"{path}: {key} takes a list of strings")
        setattr(settings, key, tuple(value))
    elif key == "dialect":
        settings.dialect = check_dialect(value, path)
    elif key == "data":
        if not isinstance(value, bool):
            raise ConfigError(f"{path}: data takes true or false")
        settings.data = value
    elif key == "fail-on":
        settings.fail_on = _severity(value, key, path)
    elif key == "severity":
        if not isinstance(value, dict):
            raise ConfigError(f'{path}: severity is a table, such as [tool.caffe-guard.severity] CG301 = "warning"')
        settings.severities = {
            (rule.upper() if rule.upper().startswith("CG") else rule): _severity(level, f"severity.{rule}", path)
            for rule, level in value.items()
        }
    else:
        raise ConfigError(
            f"{path}: unknown setting {key!r}; known: select, ignore, exclude, dialect, data, fail-on, severity"
        )


def _severity(value: Any, key: str, path: str) -> Severity:
    try:
        return Severity.parse(str(value))
    except ValueError as error:
        raise ConfigError(f"{path}: {key}: {error}") from None


def check_dialect(value: Any, origin: str) -> str:
    """The dialect of that name. Raises ConfigError with the known names."""
    from caffe_guard.schema.dialects import DIALECTS

    name = str(value).lower()
    if name == "auto" or name in DIALECTS:
        return name
    raise ConfigError(f"{origin}: unknown dialect {value!r}; known: auto, {', '.join(DIALECTS)}")
