"""Helpers the tests share: a tiny model, real servers, proxies."""
