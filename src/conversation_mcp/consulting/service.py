"""The service: takes a step, keeps it in the conversation, and asks another model at the end."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from anyio import to_thread

from conversation_mcp.cancellation import finish
from conversation_mcp.consulting.answers import NO_STEPS, message_for, run_of, steps_with_answers
from conversation_mcp.consulting.wanted import Consulted, ConsultState, WantedStep
from conversation_mcp.errors import Argument, ConversationMCPError, InvalidInputError
from conversation_mcp.records.ids import check_id, created_at
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.records.options import Options
from conversation_mcp.records.titles import title_of
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.text import listed
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.changes import new_conversation
from conversation_mcp.turns.composer import NO_CHAIN, Composer
from conversation_mcp.turns.earlier_calls import note_told
from conversation_mcp.turns.engine import TurnEngine
from conversation_mcp.turns.material import Material
from conversation_mcp.turns.result import TurnResult, answer_result
from conversation_mcp.turns.stored_turns import stored_answer
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.ending import words_after
from conversation_mcp.workflows.engine import Accepted, ChoiceDue, next_step, state_of, stored_with
from conversation_mcp.workflows.given import redacted
from conversation_mcp.workflows.library import Workflows
from conversation_mcp.workflows.message import answer_of, files_of, images_of, system_text
from conversation_mcp.workflows.severity import returned_issues

TOOL = "consult"
"""The name under which the question to the validating model is stored, whichever tool took the step."""
PRESET = "high"
"""The preset for a provider that has presets but no known model."""
DEEP = "auto:deep"
TEMPLATE = "Read the text and do what it says. Nothing was stored, and no model was asked."
WAITING = "Another model is being asked; its answer is kept in this conversation."
AT_THE_END = "{} counts with the step that ends the workflow; it was not kept"
NOT_STORED = "a template stores nothing, so nothing was added to {}"
Save = Callable[[ConversationId], Awaitable[None]]


class Consulting:
    """Takes the steps of workflows."""

    def __init__(
        self,
        store: Store,
        turns: TurnEngine,
        composer: Composer,
        workflows: Workflows,
        system_prompt: str,
        save: Save,
        now: Callable[[], datetime],
        *,
        default_model: str | None = None,
    ) -> None:
        self._store = store
        self._turns = turns
        self._composer = composer
        self._workflows = workflows
        self._system_prompt = system_prompt
        self._save = save
        self._now = now
        self._default_model = default_model

    async def definition(self, name: str) -> Workflow:
        """Return the definition of that name; raises as `Workflows.find`."""
        return await to_thread.run_sync(self._workflows.find, name)

    async def step(self, wanted: WantedStep, caller: Caller) -> Consulted:
        """Take a step; the last one is validated by a model, unless the definition or the call says otherwise.

        The same call again continues where it was: a step that is stored is not stored twice, and no model is asked
        twice.

        Raises:
            InvalidInputError: the step or a file that it names is not valid; nothing was stored.
            ConversationMCPError: the step is stored, and there is no answer of the model.
        """
        definition = await self.definition(wanted.workflow)
        if definition.kind == "template":
            return _filled(definition, wanted)
        wanted = replace(wanted, given=redacted(wanted.given, self._composer.redaction.text))
        notices = (*_early(wanted), *await self._check_files(wanted, caller))
        try:
            conversation, accepted = await self._taken(definition, wanted, caller)
        except _ChoiceError as error:
            return Consulted(definition.name, "choice_due", error.due.question, choice=error.due)
        notices = (*accepted.notices, *notices)
        if accepted.state != "validation_due":
            done = self._outcome(definition, conversation, accepted, notices)
            return await self._delivered(done, wanted, caller)
        try:
            turn = await self._validate(definition, conversation, accepted, wanted, caller)
        except ConversationMCPError as error:
            if error.conversation_id is None:
                error.conversation_id = conversation.conversation_id
            raise
        if turn.status == "running" or turn.message_count is None:
            state: ConsultState = "validation_running" if turn.status == "running" else "validated"
            return Consulted(
                definition.name, state, WAITING, conversation, accepted.step, accepted.form, None, turn, (), notices
            )
        conversation, accepted = await self._settled(definition, conversation, wanted)
        done = replace(self._outcome(definition, conversation, accepted, notices), turn=turn)
        return await self._delivered(done, wanted, caller)

    def _answer(self, conversation: Conversation, step: WorkflowStep) -> TurnResult | None:
        """Return the answer of the model that has validated the step."""
        number = step.validation.message_number if step.validation else None
        if number is None or not 1 < number <= len(conversation.messages):
            return None
        question, reply = conversation.messages[number - 2 : number]
        return answer_result(
            stored_answer(reply),
            conversation_id=conversation.conversation_id,
            provider=reply.provider,
            requested_model=reply.requested_model,
            path=self._store.location(ConversationId(conversation.conversation_id)),
            saved=conversation,
            asked=question,
            show_thinking=False,
        )

    async def _check_files(self, wanted: WantedStep, caller: Caller) -> tuple[str, ...]:
        """Read the files of the step under the rules for files, and return notices of what is left out of folders.

        Raises:
            InvalidInputError: a path that was named cannot be sent.
        """
        given = wanted.given
        if not (given.files or given.images):
            return ()
        ask = Ask(TOOL, "chat", "", PRESET, files=given.files, images=given.images)
        read = await self._composer.read(Material(ask, caller, NO_CHAIN))
        named = {*given.files, *given.images}
        if missing := [each for each in read.left_out if each.path in named]:
            told = listed(f"{each.path} ({each.reason})" for each in missing)
            name = "images" if all(each.is_image for each in missing) else "files"
            raise InvalidInputError(Argument(name), f" has what cannot be sent: {told}. Send the step without it.")
        return tuple(f"{each.path} is left out: {each.reason}" for each in read.left_out)

    async def _taken(self, definition: Workflow, wanted: WantedStep, caller: Caller) -> tuple[Conversation, Accepted]:
        opened = None if wanted.conversation_id else await self._opened_before(wanted, caller)
        if opened is None and wanted.conversation_id is None:
            return await finish(self._open(definition, wanted, caller))
        return await self._add(definition, opened or check_id(wanted.conversation_id or ""), wanted)

    async def _opened_before(self, wanted: WantedStep, caller: Caller) -> ConversationId | None:
        """Return the conversation that the same call has opened, if its result was never delivered."""
        call = await self._store.calls.find(wanted.key(caller.owner))
        return call.conversation_id if call and await self._store.exists(call.conversation_id) else None

    async def _open(self, definition: Workflow, wanted: WantedStep, caller: Caller) -> tuple[Conversation, Accepted]:
        now = iso(self._now())
        accepted = _accepted(next_step(definition, (), wanted.given, created_at=now))
        own = await self._store.reserve()
        try:
            await self._store.calls.claim(wanted.key(caller.owner), Call(own, created_at(own)))
            empty = new_conversation(own, self._system_prompt, None)
            step = accepted.step.model_copy(update={"after_message": len(empty.messages)})
            conversation = empty.changed(title=title_of(None, [step.step]), workflow_steps=(step,))
            await self._store.create(conversation)
        finally:
            await self._store.unreserve(own)  # frees the id only if nothing was written under it
        return conversation, replace(accepted, step=step)

    async def _add(
        self, definition: Workflow, conversation_id: ConversationId, wanted: WantedStep
    ) -> tuple[Conversation, Accepted]:
        await self._save(conversation_id)
        taken: list[Accepted] = []

        def add(stored: Conversation, now: str) -> Conversation:
            steps = steps_with_answers(definition, stored)
            found = next_step(definition, steps, wanted.given, messages=stored.messages, created_at=now)
            taken[:] = [_accepted(found)]
            unarchived = {"archived": None} if stored.archived else {}
            return stored.changed(workflow_steps=stored_with(steps, taken[0].step), **unarchived)

        return await self._store.update(conversation_id, add), taken[0]

    async def _validate(
        self, definition: Workflow, conversation: Conversation, accepted: Accepted, wanted: WantedStep, caller: Caller
    ) -> TurnResult:
        run = run_of(definition, conversation.workflow_steps or NO_STEPS)
        ask = Ask(
            tool=TOOL,
            mode="chat",
            question=message_for(definition, conversation),
            preset=PRESET,
            model=wanted.model or self._usual_model(conversation),
            options=Options(reasoning_effort=wanted.effort or accepted.effort),
            role=system_text(definition),
            files=files_of(run),
            images=images_of(run),
            question_name="findings",
        )
        return await self._turns.follow_up(conversation.conversation_id, ask, caller)

    def _usual_model(self, conversation: Conversation) -> str | None:
        """Return what chooses a deep model where nobody has answered yet, unless a default is set."""
        return None if self._default_model or conversation.turn_count else DEEP

    async def _settled(
        self, definition: Workflow, conversation: Conversation, wanted: WantedStep
    ) -> tuple[Conversation, Accepted]:
        """Record in the step that its validation was answered, and return what the definition says then."""
        conversation_id = ConversationId(conversation.conversation_id)
        conversation = await self._store.load(conversation_id)
        if steps_with_answers(definition, conversation) is not conversation.workflow_steps:
            conversation = await self._store.update(
                conversation_id,
                lambda stored, _now: stored.changed(workflow_steps=steps_with_answers(definition, stored)),
            )
        steps = conversation.workflow_steps or NO_STEPS
        again = _accepted(next_step(definition, steps, wanted.given, messages=conversation.messages))
        return conversation, again

    def _outcome(
        self, definition: Workflow, conversation: Conversation, accepted: Accepted, notices: Sequence[str]
    ) -> Consulted:
        step, state = accepted.step, state_of(accepted.step)
        has_ended = not step.next
        is_open = has_ended and state == "in_progress"
        run = run_of(definition, conversation.workflow_steps or NO_STEPS)
        return Consulted(
            workflow=definition.name,
            state="in_progress" if state == "in_progress" else "validated" if state == "validated" else "finished",
            guidance=words_after(step) if is_open else accepted.guidance,
            conversation=conversation,
            step=step,
            form=accepted.form,
            turn=self._answer(conversation, step),
            issues=returned_issues(definition, run) if has_ended else (),
            notices=tuple(notices),
        )

    async def _delivered(self, done: Consulted, wanted: WantedStep, caller: Caller) -> Consulted:
        """Let the name of a call that opened the conversation go once its result was delivered."""
        if wanted.conversation_id is None and done.conversation is not None:
            own = ConversationId(done.conversation.conversation_id)
            call, key = Call(own, created_at(own)), wanted.key(caller.owner)
            await finish(caller.on_result(partial(note_told, self._store.calls, key, call, stays=False)))
        return done


class _ChoiceError(Exception):
    """The user must choose before step 1."""

    def __init__(self, due: ChoiceDue) -> None:
        super().__init__()
        self.due = due


def _accepted(found: Accepted | ChoiceDue) -> Accepted:
    if isinstance(found, ChoiceDue):
        raise _ChoiceError(found)
    return found


def _filled(definition: Workflow, wanted: WantedStep) -> Consulted:
    if not wanted.given.step.strip():
        raise InvalidInputError(Argument("step"), " must not be empty: it is what the template is filled with.")
    notices = (NOT_STORED.format(wanted.conversation_id),) if wanted.conversation_id else ()
    return Consulted(
        definition.name, "template", TEMPLATE, form=answer_of(definition, wanted.given.step), notices=notices
    )


def _early(wanted: WantedStep) -> tuple[str, ...]:
    given = {"model": wanted.model, "effort": wanted.effort} if wanted.given.next else {}
    return tuple(AT_THE_END.format(name) for name, value in given.items() if value)
