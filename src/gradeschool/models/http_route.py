"""Finding the proxy of an address."""

from __future__ import annotations

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
