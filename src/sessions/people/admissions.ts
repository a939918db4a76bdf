import { type Address, parseAddress } from '../../core/address.ts'
import type { Admission, Applicant } from '../../core/admission.ts'
import { isOfSameSender, withWordsOf } from '../../core/amended.ts'
import type { Clock } from '../../core/clock.ts'
import type { Decision, Dispatch, Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { IdSource, PersonId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { InboundEdit, InboundEvent, InboundMessage } from '../../core/message.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { Store } from '../../store/store.ts'
import type { AdmissionFacts } from './admission-facts.ts'
import { admittedKey } from './admitted-key.ts'
import type { OwnerCards } from './owner-cards.ts'
import { forgetApplicant, KEPT_MS, MOST_HANDLED } from './record-refusal.ts'

/** Lets applicants in or denies them; an owner's decision takes effect at once. */
export interface Admissions {
  /**
   * Called when a message was decided: whoever asks to be let in is known from then on, and an owner who writes in
   * private can be notified there.
   */
  decided(dispatch: Dispatch, decision: Decision): void
  /** Does the same as `decided` for somebody who has just become an owner. */
  ownerWrote(event: InboundEvent, at: number): void
  /** Called after the commit of a message that was refused and asks to be let in. */
  refused(asks: Applicant): void
  list(): Promise<readonly Admission[]>
  /**
   * Decides by code or key, for a person or `operator`. For those let in, the newest 20 messages of the last day are
   * handled; those of the denied are forgotten. Resolves when that is on disk. Throws `not_found` if nobody of that
   * name has asked.
   */
  decide(name: string, state: 'admitted' | 'denied', by: string): Promise<DecidedAdmission>
  /**
   * Called when the known people have changed. Whoever asked and is one of them by now asks no longer, and what they
   * wrote is handled. Never rejects.
   */
  peopleChanged(): Promise<void>
  /** Handles what an admission left unhandled and notifies owners of what is due; called at boot. */
  recover(): Promise<void>
}

/** An admission after a decision. */
export interface DecidedAdmission extends Admission {
  /** The number of earlier messages that are handled now. */
  readonly handled: number
  /** The path of the setting that decides about this place in any case, so that the decision changes nothing. */
  readonly ruledBy?: string
}

export interface AdmissionDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly facts: Pick<AdmissionFacts, 'fact' | 'asked' | 'decided' | 'reload'>
  /** Returns the present identity of a platform id. */
  whoIs(platformId: string): Identity
  readonly cards: OwnerCards
  /** People who answer some questions besides owners. */
  readonly approvers: readonly PersonId[]
  /** Returns the path of the setting that decides about a chat whatever was admitted. */
  ruledBy(address: Address): string | undefined
  /** Stores and decides a dispatch anew. */
  accept(dispatch: Dispatch): Promise<void>
}

const SENTENCES = {
  person: { admitted: 'Somebody was let in', denied: 'Somebody was denied' },
  place: { admitted: 'A place was opened', denied: 'A place was denied' },
} as const

export function createAdmissions(deps: AdmissionDeps): Admissions {
  const { store, clock, logger, cards, facts } = deps
  const { read } = store

  async function handle(key: string): Promise<number> {
    const waiting = await read.admissions.refusals(key, clock.now() - KEPT_MS, MOST_HANDLED)
    const rows = await Promise.all(waiting.map((id) => read.inbox.get(id)))
    const wanted = stillWanted(rows)
    // All at once, in order: what their author writes meanwhile, as an edit of one of them, comes after all of them.
    await Promise.all(wanted.map((dispatch) => deps.accept(anew(dispatch, deps))))
    const last = waiting.at(-1)
    if (last) await store.write((tx) => tx.admissions.forget(key, last))
    return wanted.filter(({ event }) => event.kind !== 'departure').length
  }

  const peopleChanged = endingKnown(deps, handle)

  function noteAsking({ key }: Applicant): void {
    if (facts.fact(key) === undefined) logger.info('Somebody asks to be let in', { key })
    facts.asked(key)
  }

  return {
    decided({ event, origin, receivedAt }, decision) {
      // A poll is decided as a whole before any of it is stored, and an edit may come together with its message.
      if (decision.kind === 'refuse' && decision.asks) noteAsking(decision.asks)
      const { identity } = decision
      const notified = identity.role === 'owner' || (identity.person && deps.approvers.includes(identity.person))
      if (notified && origin === 'platform') cards.ownerWrote(event, receivedAt)
    },
    ownerWrote: cards.ownerWrote,
    refused({ key }) {
      // The admission may have come between the decision and its commit.
      const fact = facts.fact(key)
      if (fact?.state === 'admitted') {
        handle(key).catch((err: unknown) => logger.warn('What was said before an admission waits', { err, key }))
        return
      }
      if (fact?.state === 'denied') return
      void cards.notify()
    },
    list: () => read.admissions.all(),
    async decide(name, state, by) {
      const given = name.trim().replace(/`/g, '')
      const found = (await read.admissions.find(given)) ?? (await read.admissions.find(given.toLowerCase()))
      if (!found)
        throw new ParleyError('not_found', `Nobody has asked to be let in as ${name}; give the code of the request.`)
      const { key } = found
      const at = clock.now()
      await store.write(async (tx) => {
        await tx.admissions.decide(key, { state, by }, at)
        if (state === 'denied') await tx.admissions.forget(key)
      })
      await cards.decided(found, state, by)
      facts.decided(key, state === 'denied' ? { state } : { state, by, at })
      logger.info(SENTENCES[found.kind][state], { key, name: found.name, by })
      const handled = state === 'admitted' ? await handle(key) : 0
      const rule = found.kind === 'place' && state === 'admitted' ? deps.ruledBy(parseAddress(key)) : undefined
      const ruledBy = rule === undefined ? {} : { ruledBy: rule }
      return { ...found, state, decidedBy: by, decidedAt: at, handled, ...ruledBy }
    },
    peopleChanged,
    async recover() {
      await peopleChanged()
      for (const key of await read.admissions.unhandled()) await handle(key)
      await cards.notify()
    },
  }
}

/** Returns the function that ends the requests of people who are known by now, one run at a time. */
function endingKnown(
  { store, facts, cards, logger, whoIs }: AdmissionDeps,
  handle: (key: string) => Promise<number>,
): () => Promise<void> {
  async function endAll(): Promise<void> {
    for (const { key, kind, state, code } of await store.read.admissions.all()) {
      // The key of a person names the account too where that is not the default one.
      const { person, role } = whoIs(key.replace(/^([^:@]+)@[^:]*:/, '$1:'))
      if (kind !== 'person' || state !== 'asked' || role === 'guest' || person === undefined) continue
      await handle(key)
      await store.write((tx) => forgetApplicant(tx, key))
      await facts.reload()
      await cards.known({ code }, person)
    }
  }
  let ending = Promise.resolve()
  return () => {
    ending = ending
      .then(endAll)
      .catch((err: unknown) => logger.warn('A request of somebody known is still open', { err }))
    return ending
  }
}

/**
 * Returns the texts among the rows in order, as edited meanwhile and without those that were deleted, and the notices
 * that somebody has left. A change means a message by its event key: in a chat that got a new id the numbers of
 * messages begin anew.
 */
function stillWanted(all: readonly (InboxRow | undefined)[]): Dispatch[] {
  const rows = all.filter((row) => row !== undefined)
  const events = rows.map(({ dispatch }) => dispatch.event)
  const gone = new Set(events.flatMap((event) => (event.kind === 'delete' ? [event.original] : [])))
  const waits = new Set(events.flatMap((event) => (event.kind === 'message' ? [event.eventKey] : [])))
  const edits = new Map(events.flatMap((event) => (event.kind === 'edit' ? [[event.original, event] as const] : [])))
  return rows.flatMap(({ dispatch }) => {
    const { event } = dispatch
    if (!('text' in event)) return event.kind === 'departure' ? [dispatch] : []
    const original = event.kind === 'edit' ? event.original : event.eventKey
    if (gone.has(original) || (event.kind === 'edit' && waits.has(original))) return []
    return event.kind === 'message' ? [{ ...dispatch, event: asEdited(event, edits.get(original)) }] : [dispatch]
  })
}

function asEdited(message: InboundMessage, edit: InboundEdit | undefined): InboundMessage {
  return edit && isOfSameSender(message, edit) ? withWordsOf(message, edit) : message
}

/**
 * Returns the same message under a key of its own, so that it is decided anew and stored once however often it is
 * handed on; the refused row stays as it was.
 */
function anew({ event, ...dispatch }: Dispatch, { ids, clock }: AdmissionDeps): Dispatch {
  const eventKey = admittedKey(event.eventKey)
  const own =
    event.kind === 'edit' ? { ...event, eventKey, original: admittedKey(event.original) } : { ...event, eventKey }
  return { ...dispatch, event: own, traceId: ids.trace(), receivedAt: clock.now() }
}
