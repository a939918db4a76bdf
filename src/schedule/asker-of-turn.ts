import { approvedCode } from '../core/approval.ts'
import { senderAuthor } from '../core/author.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { ScheduleAsker } from '../core/chat-schedules.ts'
import type { Clock } from '../core/clock.ts'
import type { Identity } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import type { PersonId, TurnId } from '../core/ids.ts'
import { type AuthorId, identifiesNobody, platformIdOf } from '../core/platform-id.ts'
import type { TurnRef } from '../core/session-tools.ts'
import { addressesIn } from '../core/web-address.ts'
import type { InboxRow } from '../store/inbox-port.ts'
import type { StoreReader } from '../store/store.ts'

export interface TurnAskerDeps {
  readonly read: Pick<StoreReader, 'inbox' | 'approvals'>
  readonly clock: Pick<Clock, 'now'>
  readonly channels: Channels
  /** Returns the present identity of a platform id. */
  whoIs(platformId: string): Identity
  /** Returns true for a web address that a person of the turn's session has written. */
  isKnownAddress(turn: TurnRef, url: URL): Promise<boolean>
  /** Returns everybody whose words the turn was shown. */
  authorsOf(turn: TurnRef): Promise<readonly AuthorId[]>
  /** Returns true if nobody but this person sees what is said in the turn's session. */
  readsAlone(turn: TurnRef, person: PersonId): Promise<boolean>
}

/** Implements `ChatSchedules.askerOf`. */
export async function askerOfTurn(deps: TurnAskerDeps, turn: TurnRef, callId: string): Promise<ScheduleAsker> {
  const rows = await rowsBehind(deps, turn.id, callId)
  const row = rows.at(-1)
  if (row === undefined) throw new ParleyError('forbidden', NOT_HERE)
  const { dispatch } = row
  const asker = askerIn(deps, dispatch)
  if (asker === undefined) throw new ParleyError('forbidden', NOT_KNOWN)
  const authors = await deps.authorsOf(turn)
  const senders = rows.map(({ dispatch: { event } }) =>
    senderAuthor(deps.channels, event.address.channel, event.sender),
  )
  const askers = [...new Set(senders)]
  const writtenIn = async (text: string): Promise<readonly string[]> => {
    const keys = [...addressesIn(text)]
    const known = await Promise.all(keys.map((key) => deps.isKnownAddress(turn, new URL(`https://${key}`))))
    return keys.filter((_, index) => known[index])
  }
  const overheard = (await deps.readsAlone(turn, asker.person)) ? {} : ({ overheard: true } as const)
  return {
    ...{ ...asker, ...overheard, agent: turn.agentId, session: turn.sessionId, turn: turn.id },
    ...(askers.length > 1 ? { askers } : {}),
    ...{ authors, writtenIn, at: deps.clock.now() },
  }
}

const NOT_HERE =
  'Denied: schedules are made for people who ask in a chat, not by the run of a schedule, another session or a program.'
const NOT_KNOWN = 'Denied: I keep reminders and tasks only for people my owner has let in by name.'

/**
 * Returns the messages of people behind a call: of one that was allowed late, those of the turn that asked; else those
 * behind such calls of its turn, and at the end those that the turn answers.
 */
async function rowsBehind({ read }: TurnAskerDeps, turn: TurnId, callId: string): Promise<readonly InboxRow[]> {
  const allowed = approvedCode(callId)
  const rows = allowed === undefined ? await read.inbox.ofTurn(turn) : []
  const codes = allowed === undefined ? rows.flatMap(({ dispatch }) => dispatch.posted?.approval ?? []) : [allowed]
  const asked = await Promise.all(codes.map((code) => rowsOfQuestion({ read }, code)))
  return [...asked.flat(), ...rows].filter(({ dispatch }) => dispatch.origin === 'platform')
}

async function rowsOfQuestion({ read }: Pick<TurnAskerDeps, 'read'>, code: string): Promise<readonly InboxRow[]> {
  const question = await read.approvals.get(code)
  return question === undefined ? [] : read.inbox.ofTurn(question.turnId)
}

/** Returns who has sent a message and where, as a maker of schedules; undefined for somebody who is no known person. */
export function askerIn(
  { channels, whoIs }: Pick<TurnAskerDeps, 'channels' | 'whoIs'>,
  { event, reply: { address } }: InboxRow['dispatch'],
): Pick<ScheduleAsker, 'person' | 'role' | 'address' | 'reader'> | undefined {
  const { channel } = event.address
  if (identifiesNobody(channels, channel, event.sender)) return undefined
  const platformId = platformIdOf(channels, channel, event.sender)
  const { person, role } = whoIs(platformId)
  if (person === undefined || role === 'guest') return undefined
  if (address.chatType !== 'direct') return { person, role, address }
  return { person, role, address, reader: { platformId, person, ...(role === 'owner' ? { owner: true } : {}) } }
}
