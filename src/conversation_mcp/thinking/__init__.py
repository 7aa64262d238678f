"""Hidden reasoning in the text of an answer: `marks.py` knows its marks, `splitter.py` takes it out of a stream."""
