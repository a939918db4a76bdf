import type { Amount, BudgetSettings, Charge } from '../core/budget.ts'
import { type ErrorCode, errorCode } from '../core/errors.ts'
import type { Model, ModelEvent, ModelRequest, Usage } from '../core/model.ts'
import { hadBegun, NO_USAGE, tokensRead } from '../core/model.ts'
import { isFree, pictureTokens, priceOf } from '../core/prices.ts'
import type { BudgetGate, HeldCall } from './budget-gate.ts'
import { amountOf, callTokens, mostOf, mostThoughts, type Priced, promptTokens } from './estimate.ts'
import { tokensIn } from './text-tokens.ts'

type Models = (id: string) => Promise<Model>

export interface PaidModelsDeps {
  readonly models: Models
  readonly gate: BudgetGate
  readonly settings: BudgetSettings
}

/** Returns a model whose calls are charged; the model itself where nothing is to be charged. */
export type PaidModels = (id: string, charge?: Charge) => Promise<Model>

/**
 * Puts the budgets before every call of a model. Between the warning and the stop of a budget, the cheaper model
 * answers where it costs less; a turn stays with the model that has begun it.
 */
export function payForModels({ models, gate, settings }: PaidModelsDeps): PaidModels {
  const begun = new WeakMap<Charge, Map<string, Choice>>()
  return async (id, charge) => {
    const own = await models(id)
    if (charge === undefined || isFree(id)) return own
    const chosen = begun.get(charge) ?? (charge.follows && begun.get(charge.follows)) ?? new Map<string, Choice>()
    begun.set(charge, chosen)
    const mine = pricedAs(id, own, settings)
    return {
      id,
      async *stream(request, signal) {
        const before = chosen.get(id)
        const other = before === 'own' ? undefined : await cheaperThan(id, mine, { models, settings })
        const stays = before === 'cheaper' && other ? other : undefined
        const keep = (choice: Choice): unknown => before === undefined && chosen.set(id, choice)
        yield* paid({ gate, charge, own: stays ?? mine, other: stays ? undefined : other, keep }, request, signal)
      },
    }
  }
}

type Choice = HeldCall['model']

interface PricedModel extends Priced {
  readonly model: Model
}

function pricedAs(id: string, model: Model, { prices }: Pick<BudgetSettings, 'prices'>): PricedModel {
  return { model, price: priceOf(id, prices), picture: pictureTokens(id) }
}

interface PaidCall {
  readonly gate: BudgetGate
  readonly charge: Charge
  readonly own: PricedModel
  readonly other: PricedModel | undefined
  /** Called with the model that is asked. */
  keep(choice: Choice): unknown
}

async function* paid(
  { gate, charge, own, other, keep }: PaidCall,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, void> {
  const cost = mostOf(request, own)
  const cheaper = other && mostOf(request, other)
  const call = await gate.hold({ charge, cost, ...(cheaper ? { cheaper } : {}) }, signal)
  keep(call.model)
  if (call.model === 'own' || other === undefined)
    return yield* settled(gate, call, { ...own, request, begun: false }, signal)
  const streamed: Streamed = { ...other, request, begun: false }
  let failure: unknown
  try {
    return yield* settled(gate, call, streamed, signal)
  } catch (error) {
    // The cheaper model has failed, and the own one may still fit: saving money costs nobody an answer.
    if (streamed.begun || !errorCode(error).startsWith('model_')) throw error
    failure = error
  }
  keep('own')
  const instead = await gate.hold({ charge, cost, failure }, signal)
  yield* settled(gate, instead, { ...own, request, begun: false }, signal)
}

/**
 * Returns the cheaper model where it may answer in the place of another. One without a price is asked as well, since
 * the operator has named it; one that is not configured is not.
 */
async function cheaperThan(
  id: string,
  { price }: Priced,
  { models, settings }: Pick<PaidModelsDeps, 'models' | 'settings'>,
): Promise<PricedModel | undefined> {
  const { cheaperModel, prices } = settings
  if (cheaperModel === undefined || cheaperModel === id) return undefined
  const less = priceOf(cheaperModel, prices)
  if (price !== undefined && less !== undefined && less.output >= price.output) return undefined
  const model = await models(cheaperModel).catch(() => undefined)
  return model && pricedAs(cheaperModel, model, settings)
}

interface Streamed extends PricedModel {
  readonly request: ModelRequest
  /** Something of an answer has come. */
  begun: boolean
}

/**
 * Passes the events on; the cost of the call is on record before the last of them is. A call that is made again is one
 * more: that of the failed one is on record before its cost is held. Nothing is held in between, so that whoever is
 * stopped meanwhile pays for no call that was not made.
 */
async function* settled(
  gate: BudgetGate,
  first: HeldCall,
  streamed: Streamed,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, void> {
  const { model, request, price, picture } = streamed
  let call = first
  let output = 0
  let cost: Amount | undefined
  const soFar = (): Usage => ({ input: promptTokens(request, picture), output })
  // Thoughts are shown to nobody, and are charged.
  const brokenOff = (): Usage => ({ ...soFar(), output: output + mostThoughts(request) })
  const failed = (error: unknown): Usage => {
    const begun = streamed.begun || hadBegun(error)
    return !begun && COST_NOTHING.includes(errorCode(error)) ? NO_USAGE : brokenOff()
  }
  try {
    for await (const event of model.stream(request, signal)) {
      if (event.type === 'failed') {
        cost = await settle(failed(event.failure))
        continue
      }
      if (event.type === 'again') {
        call = await gate.hold({ charge: call.charge, cost: mostOf(request, streamed) }, signal)
        cost = undefined
        continue
      }
      streamed.begun = true
      output += writtenIn(event)
      if (event.type === 'end') {
        cost = amountOf(counted(event.usage, soFar()), price)
        await gate.settle(call, cost)
      }
      yield event
    }
  } catch (error) {
    cost ??= await settle(failed(error))
    throw error
  } finally {
    if (cost === undefined) await settle(brokenOff())
  }

  async function settle(usage: Usage): Promise<Amount> {
    const amount = amountOf(usage, price)
    await gate.settle(call, amount)
    return amount
  }
}

/** A provider may leave its count out, or a part of it: that part counts as it was estimated. */
function counted(given: Usage, estimated: Usage): Usage {
  const read = tokensRead(given) === 0 ? { input: estimated.input } : given
  return { ...read, output: given.output === 0 ? estimated.output : given.output }
}

function writtenIn(event: ModelEvent): number {
  if (event.type === 'text') return tokensIn(event.delta)
  return event.type === 'tool_call' ? callTokens(event.call.args) : 0
}

/** Failures for which no provider charges before it has begun to answer. */
const COST_NOTHING: readonly ErrorCode[] = [
  'model_overloaded',
  'model_auth',
  'model_no_credit',
  'model_unconfigured',
  'model_invalid_request',
  'model_context_length',
  'model_failed',
]
