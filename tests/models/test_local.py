"""The precision that a model on this machine is computed in."""

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")

from gradeschool.models.local import LARGE_WEIGHTS, precision_on  # noqa: E402

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
