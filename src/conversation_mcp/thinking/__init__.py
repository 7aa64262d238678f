"""Hidden reasoning in the text of an answer, told apart while the text arrives."""
