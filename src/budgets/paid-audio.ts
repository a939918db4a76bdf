import type { Audio } from '../core/audio.ts'
import type { BudgetSettings, Charge } from '../core/budget.ts'
import { type ErrorCode, errorCode } from '../core/errors.ts'
import { NO_USAGE, type Usage } from '../core/model.ts'
import { priceOf } from '../core/prices.ts'
import type { BudgetGate } from './budget-gate.ts'
import { amountOf, heardUsage, spokenUsage } from './estimate.ts'

export interface PaidAudioDeps {
  readonly gate: BudgetGate
  readonly settings: BudgetSettings
  /** The names of the endpoint's models, by what they do. */
  readonly models: { readonly transcribe?: string; readonly speak?: string }
}

/** Puts the budgets before every call of the audio endpoint that is charged to somebody. */
export function payForAudio({ transcribe, speak }: Audio, { gate, settings, models }: PaidAudioDeps): Audio {
  async function paid<Result>(
    { charge, most, model = '' }: { readonly charge: Charge; readonly most: Usage; readonly model: string | undefined },
    signal: AbortSignal,
    call: () => Promise<{ readonly result: Result; readonly used: Usage }>,
  ): Promise<Result> {
    const price = priceOf(`audio/${model}`, settings.prices)
    const held = await gate.hold({ charge, cost: amountOf(most, price) }, signal)
    let used = most
    try {
      const done = await call()
      used = done.used
      return done.result
    } catch (error) {
      // A call that the endpoint refused or that never reached it costs nothing; any other may have been done.
      if (COST_NOTHING.includes(errorCode(error))) used = NO_USAGE
      throw error
    } finally {
      await gate.settle(held, amountOf(used, price))
    }
  }
  return {
    ...(transcribe && {
      async transcribe(recording, signal, charge) {
        if (charge === undefined) return transcribe(recording, signal)
        const most = heardUsage(recording)
        return paid({ charge, most, model: models.transcribe }, signal, async () => {
          const result = await transcribe(recording, signal)
          return { result, used: result.usage ?? most }
        })
      },
    }),
    ...(speak && {
      async speak(text, signal, charge) {
        if (charge === undefined) return speak(text, signal)
        const most = spokenUsage(text)
        return paid({ charge, most, model: models.speak }, signal, async () => ({
          result: await speak(text, signal),
          used: most,
        }))
      },
    }),
  }
}

const COST_NOTHING: readonly ErrorCode[] = ['too_long', 'unavailable', 'forbidden']
