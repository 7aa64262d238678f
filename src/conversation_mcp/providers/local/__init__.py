"""The provider `local`: it quotes the user's documents, through the engine in `documents/`."""
