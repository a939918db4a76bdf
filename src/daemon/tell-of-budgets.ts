import type { Address } from '../core/address.ts'
import { type BudgetState, budgetKey, payerKey } from '../core/budget.ts'
import { stopInWords, warningInWords } from '../core/budget-words.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { AccountAt } from '../core/owner-notice.ts'
import type { PostNotice } from '../sessions/people/post-notice.ts'
import type { Store } from '../store/store.ts'
import type { BudgetEvent, DaemonEvents } from './daemon-events.ts'
import type { Budgets, NoticePlace } from './make-budgets.ts'
import type { People } from './people.ts'

interface TellerDeps {
  readonly store: Store
  readonly ids: IdSource
  readonly logger: Logger
  readonly say: PostNotice
  readonly events: Pick<DaemonEvents, 'budget'>
  readonly notifyOwners: People['notifyOwners']
  readonly where: AccountAt | undefined
}

/** The budgets that people were notified of lately. Of more, the rows are asked again. */
const MOST_TOLD = 1_000

/**
 * Notifies people of each budget once in its period: a chat, a topic or a person of their own budget, the owners in
 * private of every other. A turn that was stopped says so itself.
 */
export function tellOfBudgets(
  budgets: Pick<Budgets, 'settings' | 'placeOf'> | undefined,
  { store, ids, logger, say, events, notifyOwners, where }: TellerDeps,
): void {
  if (budgets === undefined) return
  const { settings } = budgets
  const told = new Set<string>()

  async function owners(event: BudgetEvent, text: string, saidIn?: Address): Promise<void> {
    const { payer, at, resetsAt } = event.budget
    const key = payerKey(payer)
    const mark = budgetKey(event.budget)
    const stop = `budget-stop:${mark}`
    const isTold = await store.write((tx) =>
      event.kind === 'past' ? tx.budgets.isWarned({ payer: key, period: at }) : tx.notices.known(stop),
    )
    if (isTold) return
    // First, so that a notice which a crash leaves without a mark is planned by the next call; once a day it is sent.
    const notice = { about: `budget:${event.kind}:${mark}`, text, ...(saidIn && { saidIn }) }
    const isPlanned = where === undefined || (await notifyOwners(where, notice))
    if (!isPlanned) throw new ParleyError('unavailable', 'The owners could not be notified.')
    failpoint('CP52-budget-notice-planned')
    await store.write((tx) =>
      event.kind === 'past' ? tx.budgets.warn({ payer: key, period: at }) : tx.notices.once(stop, resetsAt, 1),
    )
  }

  async function tell(event: BudgetEvent, place: NoticePlace | undefined): Promise<void> {
    const { budget } = event
    if (event.kind === 'stopped') return owners(event, stopInWords(event.budget), place?.address)
    const text = warningInWords(budget, settings.timezone, settings.cheaperModel)
    if (place === undefined || !isOfPlace(budget)) return owners(event, text)
    const message = { ...place, source: ids.notice(), class: 'notice', text } as const
    await say(message, (tx) => tx.budgets.warn({ payer: payerKey(budget.payer), period: budget.at }))
  }

  events.budget.on((event) => {
    const place = budgets.placeOf(event.charge)
    if (!isTold(event, place)) return
    const key = `${event.kind} ${budgetKey(event.budget)}`
    // The rows decide; this saves a commit for each call after the first.
    if (told.has(key)) return
    if (told.size >= MOST_TOLD) told.clear()
    told.add(key)
    tell(event, place).catch((err: unknown) => {
      told.delete(key)
      logger.warn('A notice of a budget could not be planned', { err })
    })
  })
}

/** Strangers are not notified of their own budgets, and a turn that was stopped in a place says so itself. */
function isTold({ kind, budget }: BudgetEvent, place: NoticePlace | undefined): boolean {
  if (budget.payer.kind === 'stranger') return false
  return kind === 'past' || place === undefined || !isOfPlace(budget)
}

function isOfPlace({ payer: { kind } }: BudgetState): boolean {
  return kind === 'chat' || kind === 'topic' || kind === 'person' || kind === 'session'
}
