import type { Amount, BudgetHit, BudgetState, Limit, Payer } from './budget.ts'
import { grouped } from './spending.ts'
import { wallTimeAt } from './wall-time.ts'

/** Returns the sentence for whoever is not answered any more, with the time from which on they are. */
export function stopInWords(hit: BudgetHit): string {
  const { payer, period, resetsAt, timezone } = hit
  if (period === 'session') return capInWords(hit)
  const when = period === 'day' ? 'for today' : 'for this month'
  if (hit.tooSmall)
    return `My budget ${ofPayer(payer)} ${when} is smaller than one answer may cost; my owner can raise it.`
  return `My budget ${ofPayer(payer)} ${when} is used up; it begins anew on ${timeInWords(resetsAt, timezone)}.`
}

/** The command of the setting is the owner's answer to `ask`; a message is said again, or `/retry` has it answered. */
function capInWords({ limit, onExceed }: BudgetHit): string {
  const reached = `This conversation would cost more than its cap of ${limitInWords(limit)}`
  if (onExceed !== 'ask') return `${reached}; \`/new\` starts a fresh one.`
  const more = ((2 * (limit.micros ?? 0)) / 1_000_000).toFixed(2)
  return `${reached}. May it cost more? My owner says so with \`/maxcost ${more}\`; then say it again.`
}

/** Returns the sentence that is said once when most of a budget is used. */
export function warningInWords(budget: BudgetState, timezone: string, cheaper: string | undefined): string {
  const { payer, period, resetsAt } = budget
  if (period === 'session') return `Of what this conversation may cost, ${spentInWords(budget)} is used.`
  const when = period === 'day' ? 'for today' : 'for this month'
  const then = cheaper === undefined ? '' : ' A cheaper model answers until then.'
  return `Of my budget ${ofPayer(payer)} ${when}, ${spentInWords(budget)} is used. It begins anew on ${timeInWords(resetsAt, timezone)}.${then}`
}

/** Returns `chat telegram:group:-100, day: 1,200 of 5,000 tokens; begins anew on 2026-11-27 at 00:00 (UTC)`. */
export function budgetInWords(budget: BudgetState, timezone: string): string {
  const { payer, period, resetsAt } = budget
  if (period === 'session') return `${nameOf(payer)}: ${spentInWords(budget)}, the whole of it`
  return `${nameOf(payer)}, ${period}: ${spentInWords(budget)}; begins anew on ${timeInWords(resetsAt, timezone)}`
}

/** Returns why a turn was stopped, for `why`. */
export function hitInWords(hit: BudgetHit): string {
  const small = hit.tooSmall ? '; the whole of it is less than one call may cost' : ''
  return `${budgetInWords(hit, hit.timezone)}${small}`
}

/** Returns the payer as people know it. */
function nameOf({ kind, id }: Payer): string {
  if (kind === 'total') return 'everything'
  if (kind === 'client') return `strangers of ${id}`
  if (kind === 'strangers') return 'all strangers'
  return `${kind} ${id}`
}

function ofPayer({ kind, id }: Payer): string {
  switch (kind) {
    case 'total':
      return 'as a whole'
    case 'chat':
      return 'for this chat'
    case 'topic':
      return 'for this topic'
    case 'person':
    case 'stranger':
      return 'for you'
    case 'schedule':
      return `for the schedule ${id}`
    case 'client':
    case 'strangers':
      return 'for people I do not know'
    case 'session':
      return 'for this conversation'
  }
}

/** Returns `$0.52 of $1.00`, `800 of 1,000 tokens`, or both. */
function spentInWords({ limit, used }: Pick<BudgetState, 'limit' | 'used'>): string {
  return [
    ...(limit.micros === undefined ? [] : [`${dollars(used)} of ${dollars({ micros: limit.micros })}`]),
    ...(limit.tokens === undefined ? [] : [`${grouped(used.tokens)} of ${grouped(limit.tokens)} tokens`]),
  ].join(' and ')
}

/** Cents, and more digits for less than one of them. */
function dollars({ micros }: Pick<Amount, 'micros'>): string {
  const value = micros / 1_000_000
  return `$${value !== 0 && value < 0.01 ? value.toFixed(4) : value.toFixed(2)}`
}

function timeInWords(instant: number, timezone: string): string {
  const [day = '', time = ''] = new Date(wallTimeAt(timezone, instant)).toISOString().split('T', 2)
  return `${day} at ${time.slice(0, 5)} (${timezone})`
}

/** Returns a limit in words: `$5.00 and 100,000 tokens`. */
export function limitInWords({ micros, tokens }: Limit): string {
  return [
    ...(micros === undefined ? [] : [dollars({ micros })]),
    ...(tokens === undefined ? [] : [`${grouped(tokens)} tokens`]),
  ].join(' and ')
}
