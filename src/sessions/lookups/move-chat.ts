import { formatAddress, parseAddress } from '../../core/address.ts'
import { payerKey } from '../../core/budget.ts'
import { type ChatMove, movedAddress, movedDispatch, movedKey, movedReply } from '../../core/chat-move.ts'
import type { Route } from '../../core/dispatch.ts'
import { unlessUnreadable } from '../../core/errors.ts'
import { type ScopeKey, toScopeKey } from '../../core/ids.ts'
import type { ScheduledTask } from '../../core/schedule.ts'
import type { Session } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Mute } from '../../store/small-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { copyHistory } from '../turns/take-over.ts'

type MovedKeys = Pick<Route, 'scope' | 'scopeKey' | 'displayKey'>

export interface MoveDeps {
  readonly at: number
  /** Returns the session's scope in the new chat, and its keys. */
  rekey(session: Session, move: ChatMove): MovedKeys
}

/**
 * Gives a chat its new id, inside one transaction (F-C07): sessions with their keys, aliases and metadata, owed
 * messages and turns, deliveries on their way, schedules, mutes, its budgets and its admission. A session that cannot
 * be read stays behind: the platform would repeat the notice for ever. Returns false if it was moved before.
 */
export async function moveChat(tx: StoreWriter, move: ChatMove, deps: MoveDeps): Promise<boolean> {
  if (!(await tx.chatMoves.add(move, deps.at))) return false
  const moved = new Map<ScopeKey, MovedKeys>()
  for (const id of await tx.chatMoves.sessionsIn(move)) {
    const session = await tx.sessions.get(id).catch(unlessUnreadable)
    if (!session) continue
    moved.set(session.scopeKey, await rekeySession(tx, { session, move }, deps))
  }
  for (const [from, { scopeKey }] of moved) await joinScopes(tx, { from, to: scopeKey, move }, deps.at)
  await moveOwed(tx, move, moved)
  await moveSchedules(tx, move)
  await moveMutes(tx, move, deps.at)
  await moveAdmissions(tx, move)
  await moveBudgets(tx, move)
  return true
}

async function rekeySession(
  tx: StoreWriter,
  { session, move }: { readonly session: Session; readonly move: ChatMove },
  { rekey }: MoveDeps,
): Promise<MovedKeys> {
  const keys = rekey(session, move)
  const { id, metadata } = session
  const chat = metadata.chat_id === move.from ? { chat_id: move.to } : {}
  await tx.chatMoves.rekeySession({ id, ...keys, metadata: { ...metadata, ...chat } })
  return keys
}

/**
 * The history stays with the session that was there before the move. If the new chat has a session already, its
 * messages follow behind that history, and what was set for it stands: it was said later. The old names still mean the
 * session.
 */
async function joinScopes(
  tx: StoreWriter,
  { from, to, move }: { readonly from: ScopeKey; readonly to: ScopeKey; readonly move: ChatMove },
  at: number,
): Promise<void> {
  const currentOf = (key: ScopeKey): Promise<Session | undefined> => tx.sessions.current(key).catch(unlessUnreadable)
  const [session, early] = [await currentOf(from), await currentOf(to)]
  if (!session || from === to) return
  if (early) {
    await copyHistory(tx, { from: early.id, to: session.id, at })
    await tx.sessions.patchOverrides(session.id, { set: overridesOf(early), inherit: [] })
  }
  await tx.chatMoves.repoint(from, to, session.id)
  const names = await tx.aliases.of(from)
  await tx.aliases.drop(from)
  const [before, after] = [`:group:${move.from}`, `:group:${move.to}`].map((part) => part.toLowerCase())
  await tx.aliases.add(to, [...names, ...names.map((name) => name.replace(before ?? '', after ?? ''))])
}

/** Owed messages are answered in the new chat. */
async function moveOwed(tx: StoreWriter, move: ChatMove, moved: ReadonlyMap<ScopeKey, MovedKeys>): Promise<void> {
  for (const row of await owedRows(tx)) {
    const dispatch = movedDispatch(row.dispatch, move)
    const { decision } = row
    const keys = 'route' in decision ? moved.get(toScopeKey(decision.route.scopeKey)) : undefined
    if (dispatch === row.dispatch && keys === undefined) continue
    const rerouted = 'route' in decision ? { ...decision, route: { ...decision.route, ...keys } } : decision
    await tx.chatMoves.rewriteInbox(row.id, dispatch, rerouted)
  }
  for (const { id, reply } of await tx.turns.running()) {
    const moved = movedReply(reply, move)
    if (moved !== reply) await tx.chatMoves.rewriteReply(id, moved)
  }
  for (const { id, op, address } of await tx.outbox.unfinished()) {
    const to = movedAddress(address, move)
    // A message that is to be changed has its number in the old chat.
    if (to !== address && op === 'send') await tx.chatMoves.rewriteDelivery(id, to)
  }
}

/** More than a session's queue ever holds. */
const MOST_WAITING = 10_000

async function owedRows(tx: StoreWriter): Promise<readonly InboxRow[]> {
  const rows = [...(await tx.inbox.commandsWaiting())]
  for (const session of await tx.inbox.sessionsWaiting()) rows.push(...(await tx.inbox.waiting(session, MOST_WAITING)))
  for (const { id } of await tx.turns.running()) rows.push(...(await tx.inbox.ofTurn(id)))
  return rows
}

async function moveSchedules(tx: StoreWriter, move: ChatMove): Promise<void> {
  for (const { id, definition } of await tx.schedules.all()) {
    const moved = movedSchedule(definition, move)
    if (moved !== definition) await tx.chatMoves.rewriteSchedule(id, moved)
  }
}

/** Returns the same object if the move does not concern it. */
export function movedSchedule<Task extends ScheduledTask>(definition: Task, move: ChatMove): Task {
  const { deliverTo, digestOf } = definition
  const [to, of] = [movedAddress(deliverTo, move), digestOf && movedAddress(digestOf, move)]
  if (to === deliverTo && of === digestOf) return definition
  return { ...definition, deliverTo: to, ...(of === undefined ? {} : { digestOf: of }) }
}

/** The longer of two mutes stands. */
async function moveMutes(tx: StoreWriter, move: ChatMove, at: number): Promise<void> {
  const mutes = await tx.mutes.all()
  for (const mute of mutes) {
    const address = parseAddress(mute.conversation)
    const to = movedAddress(address, move)
    if (to === address) continue
    const conversation = formatAddress(to)
    const there = mutes.find((other) => other.conversation === conversation)
    await tx.mutes.clear(mute.conversation)
    if (there === undefined || endOf(there) < endOf(mute)) await tx.mutes.set({ ...mute, conversation }, at)
  }
}

function endOf({ until = Number.POSITIVE_INFINITY }: Mute): number {
  return until
}

/** The owner's decision about the group stays in force, as do the messages that wait for one. */
async function moveAdmissions(tx: StoreWriter, move: ChatMove): Promise<void> {
  for (const { kind, key, address } of await tx.admissions.all()) {
    const to = movedAddress(address, move)
    if (kind !== 'place' || to === address) continue
    const { channel, account, chatType, chat } = to
    await tx.admissions.rekey(key, formatAddress({ channel, account, chatType, chat }), to)
  }
}

/** A group that gets a new id has spent what it had spent, whoever has spoken there: a schedule may deliver to it. */
async function moveBudgets(tx: StoreWriter, move: ChatMove): Promise<void> {
  for (const kind of ['chat', 'topic'] as const) {
    for (const payer of await tx.budgets.payersNamed(payerKey({ kind, id: move.channel }))) {
      const moved = payerKey({ kind, id: movedKey(payer.slice(payerKey({ kind, id: '' }).length), move) })
      if (moved !== payer) await tx.budgets.rename(payer, moved)
    }
  }
}
