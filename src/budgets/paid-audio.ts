import type { Audio } from '../core/audio.ts'
import type { BudgetSettings, Charge } from '../core/budget.ts'
import { type ErrorCode, errorCode } from '../core/errors.ts'
import { NO_USAGE, type Usage } from '../core/model.ts'
import { priceOf } from '../core/prices.ts'
import type { BudgetGate } from './budget-gate.ts'
import { amountOf, heardUsage, spokenUsage } from './estimate.ts'

export interface PaidAudioDeps {
  /** Undefined where nobody has a budget. */
  readonly budgets: { readonly gate: BudgetGate; readonly settings: BudgetSettings } | undefined
  /** The names of the endpoint's models, by what they do. */
  readonly models: { readonly transcribe?: string; readonly speak?: string }
  /** Called with the usage of each call, whoever it is charged to. Never rejects. */
  spent(this: void, usage: Usage): Promise<void>
}

interface AudioCall<Result> {
  readonly charge: Charge | undefined
  readonly most: Usage
  readonly model: string | undefined
  make(): Promise<{ readonly result: Result; readonly used: Usage }>
}

/** Counts every call of the audio endpoint, and puts the budgets before those that are charged to somebody. */
export function payForAudio({ transcribe, speak }: Audio, { budgets, models, spent }: PaidAudioDeps): Audio {
  async function paid<Result>({ charge, most, model, make }: AudioCall<Result>, signal: AbortSignal): Promise<Result> {
    const settle = charge && budgets && (await held(budgets, { charge, most, model }, signal))
    let used = most
    try {
      const done = await make()
      used = done.used
      return done.result
    } catch (error) {
      // A call that the endpoint refused or that never reached it costs nothing; any other may have been done.
      if (COST_NOTHING.includes(errorCode(error))) used = NO_USAGE
      throw error
    } finally {
      await settle?.(used)
      await spent(used)
    }
  }
  return {
    ...(transcribe && {
      async transcribe(recording, signal, charge) {
        const most = heardUsage(recording)
        const make = async () => {
          const result = await transcribe(recording, signal)
          return { result, used: result.usage ?? most }
        }
        return paid({ charge, most, model: models.transcribe, make }, signal)
      },
    }),
    ...(speak && {
      async speak(text, signal, charge) {
        const most = spokenUsage(text)
        const make = async () => ({ result: await speak(text, signal), used: most })
        return paid({ charge, most, model: models.speak, make }, signal)
      },
    }),
  }
}

/** Holds the most that a call may cost; returns the function that settles it. */
async function held(
  { gate, settings }: NonNullable<PaidAudioDeps['budgets']>,
  { charge, most, model = '' }: Pick<AudioCall<unknown>, 'most' | 'model'> & { readonly charge: Charge },
  signal: AbortSignal,
): Promise<(used: Usage) => Promise<void>> {
  const price = priceOf(`audio/${model}`, settings.prices)
  const call = await gate.hold({ charge, cost: amountOf(most, price) }, signal)
  return (used) => gate.settle(call, amountOf(used, price))
}

const COST_NOTHING: readonly ErrorCode[] = ['too_long', 'unavailable']
