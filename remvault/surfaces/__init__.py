"""Where people, git and agents come in: the only layer that knows argv, environment, clock and terminal."""
