"""The precision that a model on this machine is computed in."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")

from gradeschool.models.local import LARGE_WEIGHTS, count_weights, precision_on  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("device", "weights", "capabilities", "precision"),
    [
        ("cuda", 1, {}, "bfloat16"),
        ("cpu", LARGE_WEIGHTS + 1, {"amx_bf16": True, "avx512_bf16": True}, "bfloat16"),
        ("cpu", LARGE_WEIGHTS + 1, {"amx_bf16": False, "avx512_bf16": True}, "bfloat16"),
        ("cpu", LARGE_WEIGHTS + 1, {"amx_bf16": False, "avx512_f": True}, "float32"),
        ("cpu", LARGE_WEIGHTS, {"amx_bf16": True, "avx512_bf16": True}, "float32"),
    ],
)
def test_bfloat16_is_for_gpus_and_for_large_models_on_cpus_with_matrix_units(
    monkeypatch: pytest.MonkeyPatch,
    device: str,
    weights: int,
    capabilities: dict[str, bool],
    precision: str,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert precision_on(device, weights) == precision


def test_an_older_torch_without_the_question_computes_in_float32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert precision_on("cpu", LARGE_WEIGHTS + 1) == "float32"


def test_weights_are_counted_by_the_size_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(bytes(2_000))
    (tmp_path / "config.json").write_bytes(bytes(500))
    assert count_weights(tmp_path) == 1_000
