"""What the checks of breaking changes share: which commit to compare with, and what the changelog allows."""

import os
import pathlib
import re
import subprocess

HEADING = "### Breaking"


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def base_commit(folder):
    """Returns the commit with which a folder is compared, or None in a repository without one.

    It is the newest tag; before the first one the commit before, or HEAD where the folder has changed since. CONCORD_BASE
    names another commit.
    """
    if named := os.environ.get("CONCORD_BASE"):
        return named
    if tag := git("describe", "--tags", "--abbrev=0"):
        return tag.strip()
    if git("rev-parse", "--verify", "HEAD") is None:
        return None
    is_changed = git("diff", "--quiet", "HEAD", "--", folder) is None
    if not is_changed and git("rev-parse", "--verify", "HEAD^") is not None:
        return "HEAD^"
    return "HEAD"


def excuses():
    """Returns the text below the heading in the changelog's newest section."""
    changelog = pathlib.Path("CHANGELOG.md")
    sections = re.split(r"(?m)^## ", changelog.read_text() if changelog.exists() else "")
    newest = sections[1] if len(sections) > 1 else ""
    found = re.search(rf"(?ms)^{re.escape(HEADING)}\s*$(.*?)(?=^#|\Z)", newest)
    return found.group(1) if found else ""
