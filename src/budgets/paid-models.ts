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

/** Returns a model whose calls are charged, where something is to be charged. */
export type PaidModels = (id: string, charge?: Charge) => Promise<Model>

/**
 * Puts the budgets before every call of a model. Between the warning and the stop of a budget, the cheaper model
 * answers where it costs less; a turn stays with the model that has begun it.
 */
export function payForModels({ models, gate, settings }: PaidModelsDeps): PaidModels {
  const begun = new WeakMap<Charge, Map<string, Choice>>()
  return async (id, charge) => {
    const own = await models(id)
    if (isFree(id)) return own
    if (charge === undefined) return watching(own)
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

/** Returns models that nothing is charged for. */
export function watchModels(models: Models): PaidModels {
  return async (id) => {
    const model = await models(id)
    return isFree(id) ? model : watching(model)
  }
}

function watching(model: Model): Model {
  const picture = pictureTokens(model.id)
  return {
    id: model.id,
    stream: (request, signal) => watched({ model, picture, request, begun: false, output: 0 }, signal),
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
    return yield* settled(gate, call, { ...own, request, begun: false, output: 0 }, signal)
  const streamed: Streamed = { ...other, request, begun: false, output: 0 }
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
  yield* settled(gate, instead, { ...own, request, begun: false, output: 0 }, signal)
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

interface Watched extends Pick<PricedModel, 'model' | 'picture'> {
  readonly request: ModelRequest
  /** Something of an answer has come. */
  begun: boolean
  /** Tokens that were written. */
  output: number
}

type Streamed = Watched & PricedModel

/**
 * Passes the events on. A call that ends without its answer says first what it counts as, whether anybody is charged
 * for it or not: so a budget, the log and the cost of the day have the same number.
 */
async function* watched(call: Watched, signal: AbortSignal): AsyncGenerator<ModelEvent, void, void> {
  /** It has failed, and was not made again. */
  let over = false
  try {
    for await (const event of call.model.stream(call.request, signal)) {
      over = event.type === 'failed'
      if (event.type === 'failed') yield { type: 'broken', ...lostBy(event.failure, call) }
      else if (event.type !== 'again') {
        call.begun = true
        call.output += writtenIn(event)
      }
      yield event
    }
  } catch (error) {
    if (!over) yield { type: 'broken', ...lostBy(error, call) }
    throw error
  }
}

function lostBy(failure: unknown, call: Watched): { readonly failure: unknown; readonly usage: Usage } {
  const begun = call.begun || hadBegun(failure)
  return { failure, usage: !begun && COST_NOTHING.includes(errorCode(failure)) ? NO_USAGE : brokenOff(call) }
}

function soFar({ request, picture, output }: Watched): Usage {
  return { input: promptTokens(request, picture), output }
}

/** Thoughts are shown to nobody, and are charged. */
function brokenOff(call: Watched): Usage {
  return { ...soFar(call), output: call.output + mostThoughts(call.request) }
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
  const { request, price } = streamed
  let call = first
  let cost: Amount | undefined
  try {
    for await (const event of watched(streamed, signal)) {
      if (event.type === 'broken') cost = await settle(event.usage)
      else if (event.type === 'again') {
        call = await gate.hold({ charge: call.charge, cost: mostOf(request, streamed) }, signal)
        cost = undefined
      } else if (event.type === 'end') cost = await settle(counted(event.usage, soFar(streamed)))
      yield event
    }
  } finally {
    if (cost === undefined) await settle(brokenOff(streamed))
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
