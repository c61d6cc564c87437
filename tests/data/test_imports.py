import subprocess
import sys
import textwrap

import simloss.data


def test_public_names_are_there():
    assert simloss.data.__all__ == sorted(simloss.data.__all__, key=lambda n: (not n.isupper(), n))
    for name in simloss.data.__all__:
        assert hasattr(simloss.data, name)


def test_pillow_is_needed_only_to_decode(tmp_path):
    (tmp_path / "1_0_0_1.jpg").write_bytes(b"x")
    script = f"""
        import sys
        sys.modules["PIL"] = None  # as if it were not installed
        import simloss
        print(simloss.data.diamonds())
        try:
            simloss.data.utkface({str(tmp_path)!r})
        except ImportError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "Dataset(diamonds: 4,000 examples of 9, 100 classes)",
        "Reading images needs Pillow, which is not installed: pip install 'simloss[cli]'.",
    ]
