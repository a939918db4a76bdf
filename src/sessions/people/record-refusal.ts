import type { Applicant } from '../../core/admission.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import { ParleyError, unlessUnreadable } from '../../core/errors.ts'
import type { IdSource, InboxId } from '../../core/ids.ts'
import type { InboundEvent, Sender } from '../../core/message.ts'
import type { StoreWriter } from '../../store/store.ts'
import { textBytes, withoutText } from './kept-text.ts'

/** The age from which an applicant's message is not handled any more when they are let in. */
export const KEPT_MS = 24 * 3_600_000
/** The most messages of an applicant that are handled then, the newest ones. */
export const MOST_HANDLED = 20
/** The most bytes of text that are kept of one applicant, except that the newest message is always kept. */
const MOST_BYTES = 32 * 1024
/** The most applicants who wait for a card, and the most of whom owners were notified without a decision. */
export const MOST_ASKING = 1_000

/**
 * Records, in the commit of a refused message, that its applicant has asked and that the message waits for the
 * admission. The number is bounded: where too many ask, the one that has waited longest for a card is forgotten and
 * asks anew with the next message.
 */
export async function recordRefusal(
  tx: StoreWriter,
  { id, dispatch, asks }: { readonly id: InboxId; readonly dispatch: Dispatch; readonly asks: Applicant },
  ids: Pick<IdSource, 'code'>,
): Promise<void> {
  const { event, receivedAt: at } = dispatch
  if ((await ask(tx, { dispatch, asks }, ids)) === 'added') await forgetBeyond(tx, 'unnotified')
  if (event.kind === 'membership') return
  if (event.kind === 'departure' && !(await hasWaiting(tx, asks.key, event.sender))) return
  const bounds = { since: at - KEPT_MS, messages: MOST_HANDLED, bytes: MOST_BYTES }
  const gone = await tx.admissions.refuse(asks.key, { inbox: id, at, bytes: textBytes(dispatch) }, bounds)
  await forgetTexts(tx, gone)
}

/** Whoever leaves and has nothing there that waits takes the place of no message. */
async function hasWaiting(tx: StoreWriter, key: string, sender: Sender): Promise<boolean> {
  for (const id of await tx.admissions.refusals(key, 0, MOST_HANDLED)) {
    const event = (await tx.inbox.get(id).catch(unlessUnreadable))?.dispatch.event
    if (event?.sender.id === sender.id && event.kind !== 'departure') return true
  }
  return false
}

/** Codes are short, so two applicants may draw the same one: then another is drawn. */
async function ask(
  tx: StoreWriter,
  { dispatch, asks }: { readonly dispatch: Dispatch; readonly asks: Applicant },
  ids: Pick<IdSource, 'code'>,
): Promise<'added' | 'known'> {
  const { event, traceId, receivedAt } = dispatch
  const card = { name: nameOf(event, asks.kind), address: event.address, traceId }
  for (let drawn = 0; drawn < MOST_DRAWN; drawn++) {
    const asked = await tx.admissions.ask({ ...asks, ...card, code: ids.code() }, receivedAt)
    if (asked !== 'code_taken') return asked
  }
  throw new ParleyError('internal', 'no code is free for an applicant')
}

/** Forgets the applicants beyond the bound, and their messages, inside a transaction. */
export async function forgetBeyond(tx: StoreWriter, which: 'notified' | 'unnotified'): Promise<void> {
  for (const key of await tx.admissions.beyond(which, MOST_ASKING)) await forgetApplicant(tx, key)
}

/** Forgets some of the applicants whom nobody decided about since then, inside a transaction. Returns how many. */
export async function forgetBefore(tx: StoreWriter, at: number): Promise<number> {
  const keys = [...(await tx.admissions.before('unnotified', at)), ...(await tx.admissions.before('notified', at))]
  for (const key of keys) await forgetApplicant(tx, key)
  return keys.length
}

/** Forgets one applicant, and the messages that still wait for the admission, inside a transaction. */
export async function forgetApplicant(tx: StoreWriter, key: string): Promise<void> {
  await forgetTexts(tx, await tx.admissions.refusals(key, 0, MOST_HANDLED))
  await tx.admissions.withdraw(key)
}

/**
 * Removes the texts but keeps the rows, so that a message that comes again is recognised. A row that cannot be read
 * stays as it is, and keeps nobody else from being recorded.
 */
async function forgetTexts(tx: StoreWriter, messages: readonly InboxId[]): Promise<void> {
  for (const id of messages) {
    const row = await tx.inbox.get(id).catch(unlessUnreadable)
    if (row) await tx.inbox.replaceDispatch(id, withoutText(row.dispatch))
  }
}

/** With thousands of applicants one draw in ten thousand finds a code that is used. */
const MOST_DRAWN = 8

const LONGEST_NAME = 60

/**
 * Returns the name of a person or a place without markup, line breaks and mentions, so that it can pass only for a
 * name.
 */
function nameOf(event: InboundEvent, kind: Applicant['kind']): string {
  const { displayName, username } = event.sender
  const title = event.kind === 'membership' ? event.chatTitle : event.titles?.chat
  const name = kind === 'place' ? title : (displayName ?? username)
  return (name ?? '')
    .slice(0, 4 * LONGEST_NAME)
    .replace(/[^\p{L}\p{N} .'-]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
}
