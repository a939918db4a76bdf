import { validateDetailed } from 'node-cron'
import { toError } from '../core/errors.ts'
import { nextSlot } from './slots.ts'

/** An expression and the zone it is read in. */
export interface CronText {
  readonly cron: string
  readonly timezone: string
}

const FORM = 'write five fields (minute hour day month weekday), such as "0 8 * * 1-5", or an alias such as @daily'
const ALIASES: readonly string[] = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@hourly']

/** A mistake in a timing and its remedy; `field` is where it stands. */
export interface TimingMistake {
  readonly field: 'cron' | 'timezone'
  readonly message: string
}

/** Returns the mistakes in an expression and a zone, empty if there are none; called before anything is scheduled. */
export function checkTiming({ cron, timezone }: CronText): readonly TimingMistake[] {
  const mistakes: TimingMistake[] = []
  const wrongCron = cronMistake({ cron, timezone: 'UTC' })
  if (wrongCron !== undefined) mistakes.push({ field: 'cron', message: wrongCron })
  try {
    nextSlot({ cron: '@daily', timezone }, 0)
  } catch (error) {
    mistakes.push({ field: 'timezone', message: toError(error).message })
  }
  return mistakes
}

function cronMistake(timing: CronText): string | undefined {
  const cron = timing.cron.trim()
  const fields = cron.split(/\s+/)
  if (fields.length === 1 ? !ALIASES.includes(cron) : fields.length !== 5) {
    return `"${cron}" has the wrong form; ${FORM}`
  }
  const { valid, errors } = validateDetailed(cron)
  if (!valid) return `"${cron}" is no cron expression (${errors[0]?.message ?? 'invalid'}); ${FORM}`
  try {
    return nextSlot(timing, 0) === undefined ? `"${cron}" never comes round; change day and month` : undefined
  } catch (error) {
    return `"${cron}" is no cron expression (${toError(error).message}); ${FORM}`
  }
}
