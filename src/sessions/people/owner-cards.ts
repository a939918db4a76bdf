import type { Admission } from '../../core/admission.ts'
import type { CloseCards } from '../../core/card.ts'
import type { Clock } from '../../core/clock.ts'
import type { IdSource, PersonId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { InboundEvent } from '../../core/message.ts'
import type { Button } from '../../core/outbound.ts'
import { type Quoting, quotedApplicant } from '../../core/quoting.ts'
import type { Store } from '../../store/store.ts'
import type { OwnerChat, OwnerChats } from './owner-chats.ts'
import type { PostNotice } from './post-notice.ts'
import { forgetBeyond } from './record-refusal.ts'

/**
 * Notifies owners in private of those who ask to be let in: one card for each owner and applicant, whatever happens.
 */
export interface OwnerCards {
  /**
   * Sends the cards that are owed and possible, and leaves the rest waiting; called after somebody asked. One run at a
   * time repeats once, however many ask meanwhile. Resolves when the cards are planned, and never rejects.
   */
  notify(): Promise<void>
  /** Closes the cards about an applicant; resolves then, and never rejects. */
  decided(admission: Pick<Admission, 'code'>, state: 'admitted' | 'denied', by: string): Promise<void>
  /** Closes the cards about an applicant who is one of the known people by now, as `decided` does. */
  known(admission: Pick<Admission, 'code'>, person: PersonId): Promise<void>
  /** Called when an owner wrote in private: that is a place for cards, and the moment for those that waited for one. */
  ownerWrote(event: InboundEvent, at: number): void
}

export interface OwnerCardDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly say: PostNotice
  readonly closeCards: CloseCards
  readonly owners: OwnerChats
}

const FOR_EVER_MS = Number.MAX_SAFE_INTEGER
const DAY_MS = 86_400_000
/**
 * The most applicants an owner is notified of within a day, so that strangers cannot flood a private chat. The others
 * wait.
 */
const CARDS_A_DAY = 20
const ENOUGH = 'That is enough for a day: who else asks is in `parley access list`, and I tell you later.'

export async function createOwnerCards(deps: OwnerCardDeps): Promise<OwnerCards> {
  const { store, clock, logger, owners } = deps
  const { read } = store
  let owed = (await read.admissions.unnotified(1)).length > 0
  let notifying: Promise<void> | undefined
  let again = false
  /** The times when the cards of the last day were planned, by `clock.elapsed()`. */
  let notifiedAt: readonly number[] = []

  async function notifyAll(): Promise<void> {
    do {
      again = false
      await notifySome()
    } while (again)
  }

  /** Reads no more applicants than may get a card. */
  async function notifySome(): Promise<void> {
    notifiedAt = notifiedAt.filter((at) => at > clock.elapsed() - DAY_MS)
    const room = CARDS_A_DAY - notifiedAt.length
    owed = room === 0
    if (owed) return
    const unnotified = await read.admissions.unnotified(room + 1)
    owed = unnotified.length > room
    for (const admission of unnotified.slice(0, room)) {
      if (await notifyOf(admission)) notifiedAt = [...notifiedAt, clock.elapsed()]
      else owed = true
    }
  }

  /** Returns false if no owner can be reached yet. */
  async function notifyOf(admission: Admission): Promise<boolean> {
    const { key, address: where } = admission
    const chats = owners.nearest(where)
    if (chats.length === 0) return false
    const last = notifiedAt.length === CARDS_A_DAY - 1
    const inWords = (one: Admission): string => admissionCard(one) + (last ? `\n\n${ENOUGH}` : '')
    const quoting = { of: quotedApplicant(key), text: inWords({ ...admission, name: '' }) }
    for (const chat of chats)
      if (!(await sendCard(deps, admission, { ...chat, text: inWords(admission), quoting }))) {
        again = true
        return false
      }
    await store.write(async (tx) => {
      await tx.admissions.notified(key, clock.now())
      await forgetBeyond(tx, 'notified')
    })
    return true
  }

  function notify(): Promise<void> {
    again = true
    notifying ??= notifyAll()
      .catch((err: unknown) => {
        owed = true
        logger.warn('Owners could not be notified of who asks to be let in', { err })
      })
      .finally(() => {
        notifying = undefined
      })
    return notifying
  }

  return {
    notify,
    decided: ({ code }, state, by) =>
      deps.closeCards(subjectOf(code), `${state === 'admitted' ? 'Let in' : 'Kept out'} by ${by}.`),
    known: ({ code }, person) => deps.closeCards(subjectOf(code), `This is ${person} to me by now.`),
    ownerWrote(event, at) {
      if (event.address.chatType !== 'direct') return
      const chat = owners.saw(event, at)
      const stored = chat ? store.write((tx) => tx.people.metAt(chat)) : Promise.resolve()
      stored.catch((err: unknown) => logger.warn("An owner's chat could not be stored", { err }))
      if (owed) void notify()
    },
  }
}

/** Sends an owner the card about an applicant, unless they have had it; returns false if the name is another by now. */
async function sendCard(
  { ids, clock, say }: OwnerCardDeps,
  admission: Admission,
  { person, address, reader, text, quoting }: OwnerChat & { readonly text: string; readonly quoting: Quoting },
): Promise<boolean> {
  const { traceId, code, key, name } = admission
  const source = ids.notice()
  const buttons = admissionButtons(admission)
  const card = { source, traceId, address, reader, text, quoting, buttons } as const
  let isCalledSo = true
  await say({ ...card, class: 'control', lowPriority: {} }, async (tx) => {
    // Somebody may have been forgotten since the name was read.
    isCalledSo = (await tx.admissions.find(key))?.name === name
    if (!isCalledSo) return false
    if (!(await tx.notices.once(`${subjectOf(code)}:${person}`, clock.now(), FOR_EVER_MS))) return false
    await tx.cards.add(subjectOf(code), source)
    return true
  })
  return isCalledSo
}

/** Returns the name under which the cards about an applicant are listed. */
function subjectOf(code: string): string {
  return `admission:${code}`
}

function admissionButtons({ kind, code }: Admission): readonly Button[] {
  return [
    { label: kind === 'person' ? 'Let them in' : 'Talk there', command: `/admit ${code}` },
    { label: 'Keep out', command: `/deny ${code}` },
  ]
}

/**
 * Returns the notice to an owner about a person or a place that asks to be let in. Names are text; only the id counts.
 * In a code span a name is no link and no sentence.
 */
function admissionCard({ kind, key, code, name }: Admission): string {
  const asked =
    kind === 'person'
      ? `\`${key}\`${name === '' ? '' : ` (\`${name}\`)`} asks to talk to me in a direct chat. A name proves nothing; the id counts.`
      : `Somebody speaks in ${name === '' ? 'a place' : `\`${name}\``}, where nobody has let me talk: \`${key}\`.`
  const effect = kind === 'person' ? 'lets them in' : 'lets everybody there address me, in all its topics'
  return `${asked}\n\n\`/admit ${code}\` ${effect}, and I handle what was said since. \`/deny ${code}\` keeps it so, and I do not ask again.`
}
