"""Look for known vulnerabilities of pinned versions with pip-audit.

    python tools/audit.py PINS

PINS has a line `name==version` for each package. Asks PyPI and, if that does not answer, OSV. The
exit code is 1 if a vulnerability is known; if no service answers, a sentence says so.
"""

from __future__ import annotations

import json
import subprocess
import sys

SERVICES = ("pypi", "osv")


def audit(service: str, pins: str) -> list[dict[str, object]] | None:
    """Return what a service knows about each package; None if it does not answer."""
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--format", "json"]
    command += ["--vulnerability-service", service, "--requirement", pins]
    result = subprocess.run(command, capture_output=True, text=True)
    if not result.stdout.strip():
        print(f"{service}: {result.stderr.strip().rpartition(chr(10))[2]}")
        return None
    packages: list[dict[str, object]] = json.loads(result.stdout)["dependencies"]
    return packages if any("vulns" in each for each in packages) else None


def main() -> int:
    """Print the packages with vulnerabilities, and those of which the service knows nothing."""
    for service in SERVICES:
        packages = audit(service, sys.argv[1])
        if packages is None:
            continue
        unknown = [str(each["name"]) for each in packages if "vulns" not in each]
        found = [each for each in packages if each.get("vulns")]
        for each in found:
            print(f"{each['name']} {each['version']}: {json.dumps(each['vulns'], indent=2)}")
        known = len(packages) - len(unknown)
        print(f"{service}: {known} packages audited, {len(found)} with known vulnerabilities")
        if unknown:
            print(f"not audited, because {service} does not know them: {', '.join(unknown)}")
        return 1 if found else 0
    print(f"nothing was audited: neither of {', '.join(SERVICES)} answers from this machine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
