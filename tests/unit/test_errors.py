"""What is made of errors before somebody reads them."""

from conversation_mcp.errors import Argument, ConversationMCPError, FilesystemError, InvalidInputError
from conversation_mcp.errors.groups import single


def test_of_a_group_of_errors_a_reader_gets_the_one_that_was_written_for_readers() -> None:
    told = FilesystemError("/x", "no space left on the device")
    group = BaseExceptionGroup("outer", [OSError("a"), ExceptionGroup("inner", [ValueError("b"), told])])
    assert single(group) is told


def test_a_group_without_such_an_error_and_an_error_without_a_group_are_what_they_are() -> None:
    first = ValueError("first")
    assert single(ExceptionGroup("outer", [ExceptionGroup("inner", [first]), KeyError("second")])) is first
    assert single(first) is first
    assert not isinstance(single(first), ConversationMCPError)


def test_an_error_about_arguments_knows_which_one_and_is_told_in_the_names_of_whoever_shows_it() -> None:
    error = InvalidInputError(Argument("begin"), " lies after ", Argument("end"), "; got 'begin'.")
    assert (error.field, error.message) == ("begin", "begin lies after end; got 'begin'.")
    assert error.message_with({"begin": "--from", "end": "--to"}) == "--from lies after --to; got 'begin'."
    assert error.message_with({"end": "--to"}) == "begin lies after --to; got 'begin'."
    assert InvalidInputError("a tag is too long.", field="tags").field == "tags"
    assert InvalidInputError("no such file.").field is None
