"""What is made of errors before somebody reads them."""

from conversation_mcp.errors import ConversationMCPError, FilesystemError
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
