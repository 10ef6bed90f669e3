"""A key is in the config and nowhere else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.cases.program import run
from tests.scripted_server import serve

KEY = "sk-FAKEfakeFAKEfake0123456789wxyz"


async def test_a_key_that_a_provider_repeats_is_found_in_the_config_alone(tmp_path: Path, home: Path) -> None:
    said = f"Incorrect API key provided: {KEY}. headers={{'Authorization': 'Bearer {KEY}'}}"
    refused = {"error": {"status": 401, "headers": {}, "body": {"error": {"message": said}}}}
    async with serve([refused]) as server:
        (home / "config.toml").write_text(
            f'default_model = "mine"\n[models.mine]\nmodel = "openai/m"\n'
            f'api_base = "{server.base}"\napi_key = "{KEY}"\n'
        )
        work = tmp_path / "work"
        work.mkdir()
        first = await asyncio.to_thread(run, "-p", "hi", "--output-format", "stream-json", cwd=work)
        config = await asyncio.to_thread(run, "config", cwd=work)
        (session,) = home.glob("sessions/*/*/")
        page = await asyncio.to_thread(run, "export", session, cwd=work)
    assert first.returncode == 1 and "refused the key" in first.stderr
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join([first.stdout, first.stderr, config.stdout, config.stderr, page.stdout, page.stderr])
    holding = [path for path in tmp_path.parent.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    holding += [path for path in home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert set(holding) == {home / "config.toml"}
    assert all(json.loads(line) for line in first.stdout.splitlines())
