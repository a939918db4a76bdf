import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { tokensOf } from '../../src/core/model.ts'
import { lastUserText, type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type ApiHouse, startApiHouse } from './api-house.ts'
import { recorded } from './household.ts'
import { isCheckpoint } from './remembering.ts'
import { type SetClock, setClock } from './set-clock.ts'

const usage = { input_tokens: 300, output_tokens: 40 }
const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Talk.', tools: [] } as const
const BUDGETS = { warnAt: 1, prices: {}, total: { day: { tokens: 10_000_000 } } }

interface House extends ApiHouse {
  /** Says something to the bot and returns the answer. */
  say(text: string, voice?: 'voice'): Promise<string>
  /** Returns the tokens of the day as the status and as the budget of everything has them. */
  counts(): Promise<readonly [status: number, budget: number]>
}

interface Scene {
  readonly checkpoint?: () => Reply
  /** An answer to words that end with `wait` stops here. */
  readonly gate?: ReturnType<typeof createGate>
  readonly voice?: string
  readonly clock?: SetClock
  readonly timezone?: string
}

async function startHouse({ checkpoint, gate, voice, clock, timezone = 'UTC' }: Scene = {}): Promise<House> {
  const script: Script = (request) => {
    if (checkpoint && isCheckpoint(request)) return checkpoint()
    if (gate && lastUserText(request).endsWith('wait'))
      return textReply('late', { usage, holds: [{ beforeDelta: 0, gate }] })
    return textReply(JSON.stringify(request.system).includes('You condense') ? 'trains' : lastUserText(request), {
      usage,
    })
  }
  const house = await startApiHouse({
    ...{ script, streaming: false, clock: clock ?? setClock('2026-11-26T12:00:00Z') },
    config: {
      agents: [{ ...agent, ...(voice && { voice: 'always' as const }), ...(checkpoint && { tools: ['memory'] }) }],
      budgets: { ...BUDGETS, timezone },
      ...(voice === undefined ? {} : { audio: audioAt(voice) }),
    },
  })
  const { world, ledger } = house.telegram
  return {
    ...house,
    async say(text, as) {
      const after = ledger.mark()
      const note = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf(text), more: { duration: 3 } } as const
      world.say({ from: 111, ...(as ? { text: '', extra: fileFields(world, note) } : { text }) })
      const sent = await ledger.nextFromBot('sent', { after })
      await recorded(house)
      return sent.text
    },
    async counts() {
      const { spentToday } = await house.daemon.operator.status()
      const budget = withDatabase(join(house.dataDir, 'parley.db'), (database) =>
        database.prepare("SELECT tokens FROM budget_counts WHERE payer = 'total:'").pluck().get(),
      )
      return [tokensOf(spentToday?.usage ?? { input: 0, output: 0 }), Number(budget)]
    },
  }
}

function audioAt(baseUrl: string) {
  return {
    ...{ baseUrl, limits: DEFAULT_AUDIO_LIMITS, transcribe: { model: 'whisper-1' } },
    speak: { model: 'tts-1', voice: 'alloy', format: 'opus' },
  } as const
}

it('C22, C33: a chat that is not kept is in the cost of the day', async () => {
  const house = await startHouse()
  const { headers } = await house.bearer({ owner: true, scopes: ['chat'] })
  const body = { model: 'main', messages: [{ role: 'user', content: 'hello' }] }
  expect((await house.ask('/v1/chat/completions', { headers, body })).status).toBe(200)
  expect(await house.counts()).toEqual([340, 340])
})

it('C22, C33: a summary that is of no use is in the cost of the day', async () => {
  const house = await startHouse()
  for (let nth = 0; nth < 6; nth++) await house.say('hello')
  expect(await house.say('/compact')).not.toMatch(/^Done/)
  expect(await house.counts()).toEqual([7 * 340, 7 * 340])
})

it('C22, C33: a checkpoint of which nothing is kept is in the cost of the day', async () => {
  const gate = createGate()
  let made = 0
  const house = await startHouse({
    checkpoint: () => textReply('done', { usage, ...(made++ === 0 && { holds: [{ beforeDelta: 0, gate }] }) }),
  })
  await house.say('hello')
  house.telegram.world.say({ from: 111, text: '/checkpoint' })
  await gate.reached
  await house.say('/undo')
  const after = house.telegram.ledger.mark()
  gate.release()
  await house.telegram.ledger.nextFromBot('sent', { after })
  expect(made).toBe(1)
  expect(await house.counts()).toEqual([680, 680])
})

it('C22, C33: a call that was stopped is in the cost of the day as the budget has it', async () => {
  const gate = createGate()
  const house = await startHouse({ gate })
  const { world, ledger } = house.telegram
  const after = ledger.mark()
  world.say({ from: 111, text: 'wait' })
  await gate.reached
  world.say({ from: 111, text: '/stop' })
  await ledger.nextFromBot('sent', { after })
  await recorded(house)
  const [status, budget] = await house.counts()
  expect(budget).toBeGreaterThan(0)
  expect(status).toBe(budget)
  gate.release()
})

it('C22, C33: a recording that is heard and an answer that is spoken are in the cost of the day', async () => {
  const audio = await startOpenAiServer({ keyless: true })
  onTestFinished(audio.close)
  const house = await startHouse({ voice: audio.baseUrl })
  await house.say('buy milk', 'voice')
  const [status, budget] = await house.counts()
  expect(budget).toBeGreaterThan(340)
  expect(status).toBe(budget)
})

it('C22, C33: the day is that of the budgets, in their zone', async () => {
  const clock = setClock('2026-11-26T14:50:00Z')
  const house = await startHouse({ clock, timezone: 'Asia/Tokyo' })
  await house.say('hello')
  expect(await house.say('/usage')).toContain('Today, everywhere: 1 turn, 300 tokens in, 40 out')
  clock.set('2026-11-26T15:10:00Z')
  expect(await house.say('/usage')).toContain('Today, everywhere: 0 turns, 0 tokens in, 0 out')
  expect((await house.daemon.operator.status()).spentToday).toMatchObject({ turns: 0 })
  await house.say('good morning')
  expect((await house.daemon.operator.status()).spentToday).toMatchObject({ turns: 1 })
})
