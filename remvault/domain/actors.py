"""Who acts: a person, an agent or a tool, and in which session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Author:
    """Who acts, and in which session of the host."""

    actor: str  # "user:", "agent:" or "tool:" and a name
    session: str | None = None

    @property
    def is_person(self) -> bool:
        """Whether a person acts, rather than an agent or a tool."""
        return self.actor.startswith("user:")

    @property
    def trust(self) -> str:
        """The trust of what this actor writes unless somebody says otherwise."""
        return "user" if self.is_person else "tool"
