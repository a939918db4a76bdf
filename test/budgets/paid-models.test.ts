import { describe, expect, it } from 'vitest'
import { ModelError } from '../../src/agent/models/model-error.ts'
import { retryModel } from '../../src/agent/models/retry-model.ts'
import { type PaidModels, payForModels } from '../../src/budgets/paid-models.ts'
import type { BudgetSettings, Charge } from '../../src/core/budget.ts'
import type { Clock } from '../../src/core/clock.ts'
import { deferred } from '../../src/core/deferred.ts'
import { type ErrorCode, errorCode, ParleyError } from '../../src/core/errors.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Model, type ModelEvent, tokensOf } from '../../src/core/model.ts'
import { hastyClock } from '../agent/moved-clock.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { modelOf, QUESTION, type Rig, settingsOf, startRig } from './rig.ts'

removeTempFolders()

const BIG = 'anthropic/claude-sonnet-4-5'
const SMALL = 'anthropic/claude-haiku-4-5'
const signal = new AbortController().signal

async function paidRig(
  settings: BudgetSettings,
  models: readonly Model[],
): Promise<Rig & { readonly models: PaidModels }> {
  const rig = await startRig(settings)
  const find = async (id: string): Promise<Model> => {
    const model = models.find((one) => one.id === id)
    if (!model) throw new ParleyError('model_unconfigured', `there is no ${id}`)
    return model
  }
  return Object.assign(rig, { models: payForModels({ models: find, gate: rig.gate, settings }) })
}

/** Returns the model that answered, or the code of the failure. */
async function ask(rig: { readonly models: PaidModels }, charge: Charge | undefined, id = BIG): Promise<string> {
  try {
    const model = await rig.models(id, charge)
    for await (const event of model.stream(QUESTION, signal)) if (event.type === 'end') return event.model
    return 'nothing'
  } catch (error) {
    return errorCode(error)
  }
}

function failing(id: string, failure: ErrorCode | ModelError, first: readonly ModelEvent[] = []): Model {
  return {
    id,
    async *stream() {
      yield* first
      throw failure instanceof ModelError ? failure : new ParleyError(failure, 'as the test says')
    },
  }
}

/** A model whose first call stalls and is made again. */
function stallingOnce(model: Model, clock: Clock = hastyClock()): Model {
  let calls = 0
  const once: Model = {
    id: model.id,
    async *stream(request, stop) {
      if (++calls === 1) throw new ModelError('model_stalled', 'nothing came', { advice: { retry: true } })
      yield* model.stream(request, stop)
    },
  }
  return retryModel(once, { clock, random: () => 0.5, logger: silentLogger })
}

const daily = settingsOf({ total: { day: { tokens: 1_000 } } })

describe('the cost of a call', () => {
  it('C33: is what the provider counts, in tokens and by the price of the model', async () => {
    const rig = await paidRig(daily, [modelOf(BIG, { input: 20, output: 4, cacheRead: 100 })])
    expect(await ask(rig, rig.charge)).toBe(BIG)
    expect(await rig.spent()).toEqual({ spent: 124, held: 0, micros: 60 + 60 + 30 })
  })

  it('C33: is estimated where the provider leaves it out', async () => {
    const rig = await paidRig(daily, [modelOf(BIG, { input: 0, output: 0 })])
    await ask(rig, rig.charge)
    const { spent, held } = await rig.spent()
    expect(spent).toBeGreaterThan(5)
    expect(spent).toBeLessThan(60)
    expect(held).toBe(0)
  })

  it('C33: is estimated in the part that the provider leaves out or gives as no number', async () => {
    const estimated = await paidRig(daily, [modelOf(BIG, { input: 0, output: 0 })])
    await ask(estimated, estimated.charge)
    const whole = (await estimated.spent()).spent
    const readLeftOut = await paidRig(daily, [modelOf(BIG, { input: 0, output: 300 })])
    await ask(readLeftOut, readLeftOut.charge)
    const read = (await readLeftOut.spent()).spent - 300
    expect(read).toBeGreaterThan(5)
    const writtenLeftOut = await paidRig(daily, [modelOf(BIG, { input: 200, output: 0 })])
    await ask(writtenLeftOut, writtenLeftOut.charge)
    expect((await writtenLeftOut.spent()).spent).toBe(200 + whole - read)
  })

  it.each(['model_overloaded', 'model_auth', 'model_failed', 'model_invalid_request'] as const)(
    'C33: is nothing where it failed before it gave anything: %s',
    async (code) => {
      const rig = await paidRig(daily, [failing(BIG, code)])
      for (let time = 0; time < 30; time++) expect(await ask(rig, rig.charge)).toBe(code)
      expect(await rig.spent()).toEqual({ spent: 0, held: 0, micros: 0 })
    },
  )

  it('C33: is its prompt where it stalled, and its prompt and its words where it broke off', async () => {
    const stalled = await paidRig(daily, [failing(BIG, 'model_stalled')])
    await ask(stalled, stalled.charge)
    const broken = await paidRig(daily, [failing(BIG, 'model_failed', [{ type: 'text', delta: 'x'.repeat(300) }])])
    await ask(broken, broken.charge)
    const prompt = (await stalled.spent()).spent
    expect(prompt).toBeGreaterThan(0)
    expect((await broken.spent()).spent).toBe(prompt + 100)
  })

  it('C33: is also all that it might have thought where it was stopped or broke off: nobody thinks for nothing', async () => {
    const rig = await paidRig(settingsOf({ total: { day: { tokens: 40_000 } } }), [failing(BIG, 'model_stalled')])
    const model = await rig.models(BIG, rig.charge)
    const thinking = { ...QUESTION, thinking: 'high' as const }
    const ended: string[] = []
    for (let time = 0; time < 4; time++)
      try {
        for await (const _ of model.stream(thinking, signal));
      } catch (error) {
        ended.push(errorCode(error))
      }
    expect(ended).toEqual(['model_stalled', 'model_stalled', 'budget_spent', 'budget_spent'])
  })

  it('C33: is that of each call where one is made again after it has stalled', async () => {
    const stalled = await paidRig(daily, [failing(BIG, 'model_stalled')])
    await ask(stalled, stalled.charge)
    const prompt = (await stalled.spent()).spent
    const rig = await paidRig(daily, [stallingOnce(modelOf(BIG, { input: 20, output: 4 }))])
    expect(await ask(rig, rig.charge)).toBe(BIG)
    expect(await rig.spent()).toMatchObject({ spent: prompt + 24, held: 0 })
  })

  it('C33: is held anew for a call that is made again, and one that may go beyond is not made', async () => {
    const rig = await paidRig(settingsOf({ total: { day: { tokens: 120 } } }), [
      stallingOnce(modelOf(BIG, { input: 20, output: 4 })),
    ])
    expect(await ask(rig, rig.charge)).toBe('budget_spent')
    const { spent, held } = await rig.spent()
    expect([spent > 0 && spent <= 120, held]).toEqual([true, 0])
  })

  it('C33: is nothing where the call has failed for nothing and is stopped before it is made again', async () => {
    const stopping = new AbortController()
    const clock = {
      ...hastyClock(),
      after() {
        stopping.abort()
        return () => {}
      },
    }
    const busy = new ModelError('model_overloaded', 'busy', { advice: { retry: true } })
    const services = { clock, random: () => 0.5, logger: silentLogger }
    const rig = await paidRig(daily, [retryModel(failing(BIG, busy), services)])
    const model = await rig.models(BIG, rig.charge)
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const event of model.stream(QUESTION, stopping.signal)) seen.push(event)
    })()
    await expect(reading).rejects.toMatchObject({ code: 'aborted' })
    expect(seen).toMatchObject([{ type: 'broken', usage: { input: 0, output: 0 } }, { type: 'failed' }])
    expect(await rig.spent()).toEqual({ spent: 0, held: 0, micros: 0 })
  })

  it('C33: nothing is held for a call that has failed while it waits to be made again', async () => {
    const [waits, goesOn] = [deferred(), deferred()]
    const clock = {
      ...hastyClock(),
      after: (_: number, run: () => void) => {
        waits.resolve()
        void goesOn.promise.then(run)
        return () => {}
      },
    }
    const rig = await paidRig(daily, [stallingOnce(modelOf(BIG, { input: 20, output: 4 }), clock)])
    const asked = ask(rig, rig.charge)
    await waits.promise
    await expect.poll(async () => (await rig.spent()).held).toBe(0)
    goesOn.resolve()
    expect(await asked).toBe(BIG)
  })

  it('C33: is its prompt where the answer broke off before anything of it was shown', async () => {
    const stalled = await paidRig(daily, [failing(BIG, 'model_stalled')])
    await ask(stalled, stalled.charge)
    const broken = new ModelError('model_failed', 'it broke off', { advice: { retry: false }, begun: true })
    const rig = await paidRig(daily, [failing(BIG, broken)])
    expect(await ask(rig, rig.charge)).toBe('model_failed')
    expect(await rig.spent()).toEqual(await stalled.spent())
  })

  it('C33: of a model without a price counts in tokens alone, of a script not at all', async () => {
    const settings = settingsOf({ total: { day: { tokens: 1_000, micros: 1 } } })
    const own = modelOf('openai/own', { input: 10, output: 1 })
    const rig = await paidRig(settings, [own, modelOf('scripted/echo', { input: 50, output: 50 })])
    expect(await ask(rig, rig.charge, 'openai/own')).toBe('openai/own')
    expect(await ask(rig, rig.charge, 'scripted/echo')).toBe('scripted/echo')
    expect(await rig.spent()).toEqual({ spent: 11, held: 0, micros: 0 })
  })

  it('C33: the call that may go beyond is not made', async () => {
    let calls = 0
    const model = modelOf(BIG, { input: 900, output: 50 }, async () => calls++)
    const rig = await paidRig(daily, [model])
    expect([await ask(rig, rig.charge), await ask(rig, rig.charge)]).toEqual([BIG, 'budget_spent'])
    expect(calls).toBe(1)
  })

  it('is not counted for whoever has no budget', async () => {
    const rig = await paidRig(daily, [modelOf(BIG, { input: 1, output: 1 })])
    expect(await ask(rig, undefined)).toBe(BIG)
    expect(await rig.spent()).toEqual({ spent: 0, held: 0, micros: 0 })
  })

  it.each([['charged'], ['free of charge']])(
    'C33: of one that was stopped is said before it ends, where it is %s',
    async (how) => {
      const rig = await paidRig(daily, [failing(BIG, 'aborted', [{ type: 'text', delta: 'x'.repeat(300) }])])
      const model = await rig.models(BIG, how === 'charged' ? rig.charge : undefined)
      const seen: ModelEvent[] = []
      const reading = (async () => {
        for await (const event of model.stream(QUESTION, signal)) seen.push(event)
      })()
      await expect(reading).rejects.toMatchObject({ code: 'aborted' })
      const last = seen.at(-1)
      const tokens = last?.type === 'broken' ? tokensOf(last.usage) : 0
      expect(tokens).toBeGreaterThan(100)
      expect((await rig.spent()).spent).toBe(how === 'charged' ? tokens : 0)
    },
  )
})

describe('the cheaper model', () => {
  const usage = { input: 30, output: 10 }
  /** One answer of the big model costs 240 of these, and 1400 and more are held for it. */
  const settings = settingsOf({ total: { day: { micros: 4_000 } }, warnAt: 0.25, cheaperModel: SMALL })
  const both = [modelOf(BIG, { input: 50, output: 60 }), modelOf(SMALL, usage)]

  it('C33: answers from the warning on, until nothing fits any more', async () => {
    const rig = await paidRig(settings, both)
    const answered: string[] = []
    do answered.push(await ask(rig, { ...rig.charge }))
    while (answered.at(-1) !== 'budget_spent' && answered.length < 100)
    expect(answered[0]).toBe(BIG)
    const first = answered.indexOf(SMALL)
    expect(first).toBeGreaterThan(0)
    expect(answered.slice(first, -1).every((one) => one === SMALL)).toBe(true)
    expect((await rig.spent()).micros).toBeLessThanOrEqual(4_000)
  })

  it('C33: does not come into a turn that another one has begun', async () => {
    const rig = await paidRig(settings, both)
    const { charge } = rig
    expect([await ask(rig, charge), await ask(rig, charge), await ask(rig, { ...charge })]).toEqual([BIG, BIG, SMALL])
  })

  it('C33: nor into one that somebody has joined since, who pays from then on', async () => {
    const rig = await paidRig(settings, both)
    const { charge } = rig
    const joined = { ...charge, follows: charge }
    expect([await ask(rig, charge), await ask(rig, charge), await ask(rig, joined)]).toEqual([BIG, BIG, BIG])
  })

  it('C33: keeps nobody from an answer: where it fails or is not there, the usual one is asked', async () => {
    for (const models of [both.slice(0, 1), [...both.slice(0, 1), failing(SMALL, 'model_overloaded')]]) {
      const rig = await paidRig(settings, models)
      expect([await ask(rig, { ...rig.charge }), await ask(rig, { ...rig.charge })]).toEqual([BIG, BIG])
      expect((await rig.spent()).held).toBe(0)
    }
  })

  it('C33: where it fails and the usual one does not fit any more, its failure is said, and no budget is called used up', async () => {
    let fails = false
    const small: Model = {
      id: SMALL,
      stream: (...call) => (fails ? failing(SMALL, 'model_overloaded') : modelOf(SMALL, usage)).stream(...call),
    }
    const rig = await paidRig(settings, [...both.slice(0, 1), small])
    const fitsUsual = async () => (await rig.spent()).micros <= 2_700
    while (await fitsUsual()) await ask(rig, { ...rig.charge })
    fails = true
    expect(await ask(rig, { ...rig.charge })).toBe('model_overloaded')
    expect(rig.stopped).toEqual([])
    fails = false
    expect(await ask(rig, { ...rig.charge })).toBe(SMALL)
  })

  it('C33: is followed by no second answer where it breaks off within its own, or is stopped', async () => {
    const rig = await paidRig(settings, [
      ...both.slice(0, 1),
      failing(SMALL, 'model_failed', [{ type: 'text', delta: 'hi' }]),
    ])
    expect([await ask(rig, { ...rig.charge }), await ask(rig, { ...rig.charge })]).toEqual([BIG, 'model_failed'])
    const stopped = await paidRig(settings, [...both.slice(0, 1), failing(SMALL, 'aborted')])
    expect([await ask(stopped, { ...stopped.charge }), await ask(stopped, { ...stopped.charge })]).toEqual([
      BIG,
      'aborted',
    ])
  })

  it('C33: is not asked in the place of one that costs no more', async () => {
    const rig = await paidRig({ ...settings, cheaperModel: BIG }, both)
    // From the thirteenth on the warning has passed.
    for (let time = 0; time < 16; time++) expect(await ask(rig, { ...rig.charge }, SMALL)).toBe(SMALL)
  })
})
