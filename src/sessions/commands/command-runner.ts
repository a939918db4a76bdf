import type { Address } from '../../core/address.ts'
import { type ChatCommand, type CommandCall, nearCommand } from '../../core/command.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import { REMOVALS } from '../../core/forgetting.ts'
import type { InboxId, SessionId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { OutboundMessage, Recipient } from '../../core/outbound.ts'
import { isProgramGone } from '../../core/program-gone.ts'
import type { Session } from '../../core/session.ts'
import type { InboxOutcome } from '../../core/turn-end.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import type { PostNotice } from '../people/post-notice.ts'
import { isSenderParted, type Parting } from '../turns/parted.ts'
import { readerOf } from '../turns/parted-chat.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import { lineFor } from '../turns/system-notices.ts'
import { calmLine } from '../turns/turn-reply.ts'

/** Runs control commands. They never wait in a session's queue, since a running turn may wait for one. */
export interface CommandRunner {
  /** Runs the command of a waiting inbox row; its answer and its outcome are one commit. */
  run(inbox: InboxId): void
}

export interface CommandRunnerDeps {
  readonly store: Store
  readonly logger: Logger
  readonly say: PostNotice
  readonly commands: ReadonlyMap<string, ChatCommand>
  readonly parting: Pick<Parting, 'channels' | 'whoIs'>
  readonly running: Pick<RunningTurns, 'untilStored'>
  /** Returns true if so much waits for this account that a command of strangers runs without an answer. */
  crowded(address: Address): boolean
}

export function createCommandRunner(deps: CommandRunnerDeps): CommandRunner {
  const run = async (id: InboxId): Promise<void> => {
    const row = await deps.store.read.inbox.get(id)
    const call = row && callOf(row)
    if (row && call) await runCall(row, call)
  }
  const runCall = async (row: InboxRow, call: CommandCall): Promise<void> => {
    const { id } = row
    const command = deps.commands.get(call.decision.command)
    if (isSenderParted(row, deps.parting)) return refuse(row, command)
    const known = await knownOf(deps.store.read, call, command)
    const { text, failed } = command ? await answer(command, call, deps.logger) : mistyped(call, deps.commands)
    failpoint('CP47-command-unanswered')
    if (text === null) return untilStored(() => deps.store.write((tx) => tx.inbox.settle(id, 'control')))
    const speaker = await speakerOf(deps, call, failed ? undefined : command)
    const message = { ...messageOf(row, text, command), ...speaker }
    const { lowPriority, address } = message
    const spared = !failed && isOpenedByCode(call, command)
    if (lowPriority && lowPriority.known === undefined && !spared && deps.crowded(address))
      return untilStored(() => deps.store.write((tx) => tx.inbox.settle(id, 'unanswered: public_full')))
    await untilStored(async () => {
      const isSaid = await sayUnlessForgotten(row, message, async (tx) => {
        return known !== undefined && (await isForgotten(tx, known))
      })
      if (!isSaid) await instead(row, command, { text: FORGOTTEN, outcome: 'control' })
    })
  }
  /**
   * A command that was carried out and has no outcome would be carried out again by the next start, maybe in a week: a
   * full disk is waited for. Any other error would come again each time.
   */
  const untilStored = async (store: () => Promise<void>): Promise<void> => {
    const failure = await deps.running.untilStored(() =>
      store().catch((err: unknown) => {
        if (errorCode(err) === 'unavailable') throw err
        return { err }
      }),
    )
    if (failure) throw failure.err
  }
  /** Resolves with false if what it is made of was forgotten meanwhile. */
  const sayUnlessForgotten = async (
    { id }: InboxRow,
    message: OutboundMessage,
    isGone: (tx: StoreWriter) => Promise<boolean>,
  ): Promise<boolean> => {
    let isSaid = false
    await deps.say(message, async (tx) => {
      isSaid = !(await isGone(tx))
      if (isSaid) await tx.inbox.settle(id, 'control')
      return isSaid
    })
    return isSaid
  }
  const instead = (
    row: InboxRow,
    command: ChatCommand | undefined,
    { text, outcome }: { readonly text: string; readonly outcome: InboxOutcome },
  ): Promise<void> =>
    deps.say(messageOf(row, text, command), async (tx) => {
      await tx.inbox.settle(row.id, outcome)
      return true
    })
  /** A command has the authority of its sender, who may have lost it while the command waited for a start. */
  const refuse = (row: InboxRow, command: ChatCommand | undefined): Promise<void> =>
    untilStored(() => instead(row, command, { text: PARTED, outcome: 'refused: parted' }))
  return {
    run(id) {
      run(id).catch((err: unknown) => deps.logger.error('A command broke off', { err, inboxId: id }))
    },
  }
}

/** Returns for whom an answer is and what it is made of, by which the exit asks again who reads it. */
async function speakerOf(
  { store, parting }: Pick<CommandRunnerDeps, 'store' | 'parting'>,
  { dispatch, decision: { identity, route } }: CommandCall,
  command: ChatCommand | undefined,
): Promise<Pick<OutboundMessage, 'session' | 'reader'>> {
  const { address, sender } = dispatch.event
  const known = identity.person !== undefined && sender.kind === 'user'
  if (command === undefined || command.changesSender || !known) return {}
  const reader = readerOf(parting.channels, address.channel, sender, identity)
  const session = command.fromConversation && (await store.read.sessions.current(route.scopeKey))
  return session ? { session, reader } : { reader }
}

/**
 * The session that an answer is made of, and the number of what was forgotten last there. The log says it, not
 * `removals`: an entry that `/memory remove` takes out is no word of the conversation, and its own answer names it.
 */
interface Known {
  readonly session: Pick<Session, 'id' | 'createdAt'>
  readonly removed: number
}

/** Returns what was forgotten last of the conversation that an answer is made of; undefined: it is made of none. */
async function knownOf(
  { sessions, events }: Pick<StoreReader, 'sessions' | 'events'>,
  { decision: { route } }: CommandCall,
  command: ChatCommand | undefined,
): Promise<Known | undefined> {
  const session = command?.fromConversation && (await sessions.current(route.scopeKey))
  return session ? { session, removed: await forgottenIn(events, session.id) } : undefined
}

/** The conversation may be another one by now, as after `/new`: what was read is what counts, if it is there. */
async function isForgotten({ sessions, events }: StoreWriter, { session, removed }: Known): Promise<boolean> {
  const now = await sessions.get(session.id)
  return now?.createdAt !== session.createdAt || (await forgottenIn(events, session.id)) !== removed
}

/** Returns the number of the event by which words of a session were last taken out; 0: none were. */
async function forgottenIn(events: StoreReader['events'], session: SessionId): Promise<number> {
  return (await events.latestOf(session, REMOVALS, 1))[0]?.seq ?? 0
}

function callOf({ id, dispatch, decision }: InboxRow): CommandCall | undefined {
  if (decision.kind !== 'control') return undefined
  return { inboxId: id, dispatch, decision, args: dispatch.event.kind === 'command' ? dispatch.event.args : '' }
}

interface Answer {
  /** Null if nothing is said. */
  readonly text: string | null
  readonly failed?: true
}

const PARTED = 'You were somebody else to me when you sent this, so I did not do it. Please send it again.'
const FORGOTTEN = 'What was said here was forgotten while I looked at it: please ask again.'

/** A command may also have been taken out since it was given: then nothing is said. */
function mistyped({ decision: { command } }: CommandCall, commands: CommandRunnerDeps['commands']): Answer {
  const near = nearCommand(command, commands)
  return { text: near ? `There is no \`/${command}\` here; did you mean \`/${near.name}\`?` : null }
}

async function answer(command: ChatCommand, call: CommandCall, logger: Logger): Promise<Answer> {
  try {
    return { text: await command.run(call) }
  } catch (err) {
    // The daemon ends, and the next start carries the command out.
    if (isProgramGone(err)) throw err
    if (err instanceof ParleyError && err.code !== 'internal') return { text: err.message, failed: true }
    logger.error('A command failed', { err, command: command.name, traceId: call.dispatch.traceId })
    return { text: calmLine('internal', call.dispatch.traceId), failed: true }
  }
}

/** A valid code makes its sender known from now on: they get an answer. */
function isOpenedByCode({ args, dispatch: { event } }: CommandCall, command: ChatCommand | undefined): boolean {
  return command?.open === true && command.args !== undefined && args !== '' && event.address.chatType === 'direct'
}

/** An owner's answer does not wait behind what others ask for. */
function messageOf(
  { id, dispatch, decision }: InboxRow,
  text: string,
  command: ChatCommand | undefined,
): OutboundMessage {
  const { traceId, reply, event } = dispatch
  const only = recipientOf(dispatch, command)
  return {
    source: id,
    traceId,
    address: reply.address,
    class: 'control',
    text,
    ...(reply.replyTo === undefined ? {} : { replyTo: reply.replyTo }),
    ...(only === undefined ? {} : { only }),
    ...(decision.identity.role === 'owner' ? {} : { lowPriority: lineFor(event, decision) }),
  }
}

/**
 * Answers to control commands are private where the platform can send them privately (T27). Where it cannot, the
 * command decides whether everybody may read its answer; a question that nobody saw is answered to nobody else.
 */
function recipientOf({ event }: Dispatch, command: ChatCommand | undefined): Recipient | undefined {
  const handle = event.kind === 'command' ? event.answerBy : undefined
  if (handle !== undefined) return { id: event.sender.id, handle, otherwise: 'direct' }
  if (event.address.chatType === 'direct' || event.sender.kind !== 'user') return undefined
  return { id: event.sender.id, otherwise: command?.private ? 'direct' : 'here' }
}
