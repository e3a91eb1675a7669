"""Serve an aiohttp application on a real socket, in its own thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

HOST = "127.0.0.1"
API_ROOT = "/v1"
START_SECONDS = 10.0
STOP_SECONDS = 0.01  # aiohttp treats zero as forever


@contextmanager
def serve(app: web.Application) -> Iterator[str]:
    """Serve `app` for the block; yield its base URL, ending in `/v1`.

    A handler is cancelled when its client disconnects. Leaving the block drops open connections.
    """
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    started = threading.Event()
    ports: list[int] = []

    async def run() -> None:
        runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=STOP_SECONDS, access_log=None
        )
        await runner.setup()
        await web.TCPSite(runner, HOST, 0, backlog=1024).start()
        ports.append(runner.addresses[0][1])
        started.set()
        await stop.wait()
        await runner.cleanup()

    def work() -> None:
        loop.run_until_complete(run())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    if not started.wait(START_SECONDS):
        raise RuntimeError(f"the server was not ready after {START_SECONDS:.0f} seconds")
    try:
        yield f"http://{HOST}:{ports[0]}{API_ROOT}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
