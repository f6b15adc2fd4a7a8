"""What an independent suite says of the vault's integrity at rest; `make audit` prints it."""
