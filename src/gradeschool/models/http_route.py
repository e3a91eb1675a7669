"""By which way an address is reached: through which proxy, trusting whom."""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit

from gradeschool.errors import InputError


def proxy_for(base: str) -> str | None:
    """Return the proxy that the environment names for an address, looked up once.

    aiohttp's `trust_env` looks it up for each request, in a thread, and would send a password that
    it finds in ~/.netrc.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(base)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    if proxy is not None and urlsplit(proxy).scheme not in {"http", "https"}:
        name = f"{parts.scheme.upper()}_PROXY"
        raise InputError(f"the proxy in {name} is no http:// or https:// address; set another")
    return proxy


def trust(base: str, proxy: str | None) -> ssl.SSLContext | bool:
    """Return what trusts those whom the system trusts, where a server is to be trusted at all.

    aiohttp's own context may be empty: see `cli/lean_import.py`.
    """
    if "https" not in {urlsplit(base).scheme, urlsplit(proxy or "").scheme}:
        return True
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
