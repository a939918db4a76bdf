import { ParleyError } from './errors.ts'

/** The price of a model in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  /** Absent: as `input`. */
  readonly cacheRead?: number
  /** Absent: as `input`. */
  readonly cacheWrite?: number
  /** The factors of a request that reads more than `from` tokens. */
  readonly long?: { readonly from: number; readonly input: number; readonly output: number }
}

/** Prices by `<server>/<model>`, or `audio/<model>` for a model of the audio endpoint. */
export type PriceList = Readonly<Record<string, ModelPrice>>

/** Millionths of a US dollar: sums of them stay whole numbers. */
export type Micros = number

/**
 * The kinds of payer. `stranger`: somebody whom nobody let in by name; `client`: those of them for whom the tokens of
 * one namespace speak, whose program names them as it likes; `strangers`: all of them together.
 */
export const PAYER_KINDS = [
  ...(['total', 'chat', 'topic', 'person', 'schedule', 'stranger', 'client', 'strangers'] as const),
  'session',
] as const
export type PayerKind = (typeof PAYER_KINDS)[number]

/** Whoever a call is charged to. */
export interface Payer {
  readonly kind: PayerKind
  /**
   * An address, the name of a person, a platform id, a namespace, the name of a schedule; empty for a kind of which
   * there is one.
   */
  readonly id: string
}

export const PERIODS = ['day', 'month'] as const
export type CalendarPeriod = (typeof PERIODS)[number]
/** `session`: the whole of a session, whose budget never begins anew. */
export type Period = CalendarPeriod | 'session'

/** Tokens and money; 0 of money where a model has no price. */
export interface Amount {
  readonly tokens: number
  readonly micros: Micros
}

export const NO_AMOUNT: Amount = { tokens: 0, micros: 0 }

/** The limit of a budget, at least one of the two. */
export type Limit = Partial<Amount>

export type BudgetLimits = Readonly<Partial<Record<CalendarPeriod, Limit>>>

/** The budgets of one kind of payer: `only` has those of single ones, in the place of what `each` has. */
export interface BudgetRules {
  readonly each?: BudgetLimits
  readonly only?: Readonly<Record<string, BudgetLimits>>
}

/** The block `budgets` of the configuration. */
export interface BudgetSettings {
  /** The IANA zone whose days and months count. */
  readonly timezone: string
  /** The share of a limit from which on people are notified: 0 to 1. */
  readonly warnAt: number
  /** The model that answers between the warning and the stop. */
  readonly cheaperModel?: string
  readonly total?: BudgetLimits
  readonly chat?: BudgetRules
  readonly topic?: BudgetRules
  readonly person?: BudgetRules
  readonly schedule?: BudgetRules
  readonly strangers?: {
    readonly each?: BudgetLimits
    readonly client?: BudgetLimits
    readonly together?: BudgetLimits
  }
  /** Prices of the configuration, which replace those of the built-in list. */
  readonly prices: PriceList
}

/** The block as it is read: the zone may be absent, since a start should not wait 13 ms for that of the machine. */
export type BudgetConfig = Omit<BudgetSettings, 'timezone'> & Partial<Pick<BudgetSettings, 'timezone'>>

/** The limit of one payer in one kind of period. */
export interface PayerBudget {
  readonly payer: Payer
  readonly period: Period
  readonly limit: Limit
  /** The time at which the session of a cap was made: another one may have its id later. */
  readonly since?: number
  readonly onExceed?: OnExceed
}

/**
 * The end of a session that costs more than its cap: `stop` and `ask` end the turn before its model, and `ask` says by
 * which command an owner lets it cost more; `warn` only says so once.
 */
export type OnExceed = 'stop' | 'ask' | 'warn'

/** Everything a call is charged to. Absent where no budget applies: such a call is not counted and costs no commit. */
export interface Charge {
  /** The budgets that every one of the calls must fit. */
  readonly shared: readonly PayerBudget[]
  /** The budgets of each asker, the newest first: a call is charged to the first one whose budgets it fits. */
  readonly askers: readonly (readonly PayerBudget[])[]
  /** That of the earlier calls of the turn, before somebody joined it: the turn stays with the model it began with. */
  readonly follows?: Charge
}

/** A budget as it stands. */
export interface BudgetState extends PayerBudget {
  /** Names its period: `2026-11-26`, `2026-11`. */
  readonly at: string
  /** The time at which it begins anew, ms since the epoch. */
  readonly resetsAt: number
  /** Includes the most that calls under way may still cost. */
  readonly used: Amount
}

/** A budget that a call did not fit, as a turn's record has it. */
export interface BudgetHit extends BudgetState {
  readonly timezone: string
  /** The whole limit is less than the call may cost. */
  readonly tooSmall?: true
}

/** Thrown before a call that would not fit. The message is for people: the budget, and when it begins anew. */
export class BudgetSpent extends ParleyError {
  readonly hit: BudgetHit

  constructor(hit: BudgetHit, message: string) {
    super('budget_spent', message)
    this.hit = hit
  }
}

/** The key of a payer in rows and marks. */
export function payerKey({ kind, id }: Payer): string {
  return `${kind}:${id}`
}

type NamedBudget = Pick<BudgetHit, 'payer' | 'at' | 'limit' | 'tooSmall'>

/**
 * The key of a budget in one period, in marks of what was said of it: with another limit it is another one, and one
 * that is less than a call may cost is not used up yet.
 */
export function budgetKey({ payer, at, limit, tooSmall }: NamedBudget): string {
  return `${payerKey(payer)}:${at}:${limit.tokens ?? ''}/${limit.micros ?? ''}${tooSmall ? ':small' : ''}`
}
