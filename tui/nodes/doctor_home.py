"""What the dsh home that a session lies in tells of profiles, plugins and endpoints (session-format §1.1).

Only these are opened, for reading, and only a bounded part of each: `profiles/<name>/package.json`, the
manifests of the plugins named there, and the patch layers `cordis.patch.yml`. A home never tells which
profile wrote a session, nor the version of dsh itself: its packages come with the executable.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from tui.nodes.masking import MASK, masked
from tui.session.json_value import as_array, as_object, as_text

_PROFILES: Final = 24
_PLUGINS: Final = 60
_MANIFEST_BYTES: Final = 256 * 1024
_PATCH_BYTES: Final = 64 * 1024
_NAME: Final = re.compile(r"(?:@[a-z0-9~][a-z0-9._~-]{0,100}/)?[a-z0-9~][a-z0-9._~-]{0,200}", re.IGNORECASE)
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,80}")
_RANGE: Final = re.compile(r"[0-9A-Za-z.+*^~<>=| -]{1,80}")
_ENTRY: Final = re.compile(r"( *)(?:- +)?id: *(\S+)")
_ENDPOINT: Final = re.compile(r"( *)(?:- +)?(?:baseURL|baseUrl|base_url): *(\S.*)")
_LONGEST_ADDRESS: Final = 400
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}:/{1,2}")


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """A package that a profile depends on."""

    name: str
    version: str = ""
    """As its installed manifest says; empty if there is none or it does not."""
    wanted: str = ""
    """The range, or the kind of source, that the profile asks for."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An address that a patch layer sets, without credentials and query."""

    entry: str
    """The entry of the layer; empty if it has no id."""
    url: str
    file: str


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What a profile's folder tells."""

    name: str
    bundles: tuple[str, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    has_manifest: bool = True
    """Whether its package.json could be read."""


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """What a home tells; empty is not told."""

    profiles: tuple[Profile, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()


def read_home(log: Path) -> Home | None:
    """Return what the home of a session's log tells; None if the log lies in none."""
    parents = log.absolute().parents
    if len(parents) < 4 or parents[2].name != "sessions":
        return None
    home = parents[3]
    profiles = [_profile(folder) for folder in _folders(home / "profiles")]
    layers = [home / "cordis.patch.yml"]
    layers += [home / "profiles" / profile.name / "cordis.patch.yml" for profile in profiles]
    endpoints: list[Endpoint] = []
    for layer in layers:
        endpoints += _endpoints(layer, layer.relative_to(home).as_posix())
    return Home(profiles=tuple(profiles), endpoints=tuple(endpoints[:_PLUGINS]))


def shown_address(text: str) -> str:
    """Return an address without what may be a secret: user information, query, fragment, keys in its path."""
    text = text.strip()
    if len(text) > _LONGEST_ADDRESS:
        return MASK
    scheme = _SCHEME.match(text)
    begin = scheme.end() if scheme is not None else 0
    # Up to the last @: a password may hold every sign that ends an address's host.
    at = text.rfind("@") + 1
    head = re.split(r"[?#]", text[max(begin, at) :], maxsplit=1)
    shown = text[:begin] + (f"{MASK}@" if at > begin else "") + head[0]
    return masked(shown) + (f"?{MASK}" if len(head) > 1 else "")


def _folders(place: Path) -> list[Path]:
    try:
        with os.scandir(place) as found:
            names = sorted(entry.name for entry in found if _is_folder(entry))
    except OSError:
        return []
    return [place / name for name in names[:_PROFILES]]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return not entry.name.startswith(".") and entry.is_dir()
    except OSError:
        return False


def _profile(folder: Path) -> Profile:
    manifest = _json(folder / "package.json")
    if manifest is None:
        return Profile(name=folder.name, has_manifest=False)
    settings = as_object(as_object(manifest.get("dsh")).get("profile"))
    bundles = [name for value in as_array(settings.get("bundles")) if (name := _package(value))]
    wanted = as_object(manifest.get("dependencies"))
    plugins = [
        Plugin(name=name, version=_installed(folder, name), wanted=_wanted(as_text(wanted[name])))
        for name in sorted(wanted)[:_PLUGINS]
        if _package(name)
    ]
    return Profile(name=folder.name, bundles=tuple(bundles[:_PLUGINS]), plugins=tuple(plugins))


def _package(value: object) -> str:
    """The name if a package may be called so: it becomes a path."""
    name = as_text(value)
    return name if _NAME.fullmatch(name) and ".." not in name else ""


def _installed(folder: Path, name: str) -> str:
    manifest = _json(folder / "node_modules" / name / "package.json")
    version = as_text((manifest or {}).get("version"))
    return version if _VERSION.fullmatch(version) else ""


def _wanted(text: str) -> str:
    """A range as it stands; of any other source only its kind, as an address may hold a path or a key."""
    if not text or _RANGE.fullmatch(text):
        return text
    kind = text.partition(":")[0]
    return f"{kind}:" if re.fullmatch(r"[a-z+]{1,20}", kind) and ":" in text else ""


def _endpoints(layer: Path, name: str) -> Iterator[Endpoint]:
    """What a patch layer sets as addresses: its lines are looked at, the YAML is not evaluated."""
    raw = _beginning(layer, _PATCH_BYTES)
    owners: list[tuple[int, str]] = []
    for line in (raw or b"").decode("utf-8", "replace").splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or line.lstrip(" ").startswith("#"):
            continue
        while owners and owners[-1][0] >= indent:
            owners.pop()
        if found := _ENTRY.match(line):
            dash = line.lstrip(" ").startswith("-")
            owners.append((indent if dash else max(indent - 1, 0), _scalar(found[2])))
        elif found := _ENDPOINT.match(line):
            value = _scalar(found[2])
            if value.startswith(("http://", "https://")):
                yield Endpoint(entry=owners[-1][1] if owners else "", url=shown_address(value), file=name)


def _scalar(text: str) -> str:
    text = re.sub(r"\s+#.*$", "", text).strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _json(path: Path) -> dict[str, Any] | None:
    raw = _beginning(path, _MANIFEST_BYTES)
    if raw is None:
        return None
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return as_object(value) or None


def _beginning(path: Path, limit: int) -> bytes | None:
    """The bytes of a plain file; None if it is none, is too long or cannot be read. Never waits."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError):
        return None
    try:
        kind = os.fstat(handle)
        if not stat.S_ISREG(kind.st_mode) or kind.st_size > limit:
            return None
        raw = b""
        while len(raw) <= limit and (piece := os.read(handle, limit + 1 - len(raw))):
            raw += piece
        return raw if len(raw) <= limit else None
    except OSError:
        return None
    finally:
        os.close(handle)
