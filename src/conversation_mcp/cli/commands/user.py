"""The command `user`: everything that is kept of a user, as one thing."""

import typer

from conversation_mcp.cli.users.audit import audit_users
from conversation_mcp.cli.users.delete import delete_user
from conversation_mcp.cli.users.export import export_user
from conversation_mcp.cli.users.keep import keep_user
from conversation_mcp.cli.users.prune import prune_user
from conversation_mcp.errors import InvalidInputError

user = typer.Typer()


@user.callback(invoke_without_command=True)
def choose(*, context: typer.Context) -> None:
    """Export, delete or limit what a user keeps.

    A user is an owner of conversations, as owners lists them.
    """
    if context.invoked_subcommand is None:
        raise InvalidInputError(
            "say what to do: user export NAME, user delete NAME, user keep NAME, user prune NAME, or user audit."
        )


user.command("export")(export_user)
user.command("delete")(delete_user)
user.command("keep")(keep_user)
user.command("prune")(prune_user)
user.command("audit")(audit_users)
