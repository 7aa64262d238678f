"""The parts that tools share: the type of a tool, parsing of arguments, schemas, limits of results, and next steps."""
