"""Makes Spark's checkpoint usable after its directory was renamed, which is how earlier drivers are fenced out."""

from __future__ import annotations

import os
import re
from pathlib import Path


def settle_in(checkpoint: Path) -> None:
    """Spark writes down whole paths in one place: where the schemas of its state stores are.

    Done again without harm, also after a crash in the middle.
    """
    run = checkpoint.parent.name
    earlier_run = re.compile(rf"/{run.rstrip('0123456789')}\d+/{checkpoint.name}/state/")
    for metadata in checkpoint.glob("state/*/_metadata/v*/[0-9]*"):
        text = metadata.read_text()
        moved = earlier_run.sub(f"/{run}/{checkpoint.name}/state/", text)
        if moved != text:
            temporary = metadata.with_name(f".{metadata.name}.moved")
            temporary.write_text(moved)
            metadata.with_name(f".{metadata.name}.crc").unlink(missing_ok=True)  # of the text before
            os.replace(temporary, metadata)
