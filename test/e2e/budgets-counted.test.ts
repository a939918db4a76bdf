import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import type { BudgetConfig } from '../../src/core/budget.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'
import { isCheckpoint } from './remembering.ts'
import { setClock } from './set-clock.ts'

const POLL = { timeout: 40_000, interval: 25 }
const usage = { input_tokens: 300, output_tokens: 40 }
const SUMMARY = 'They talked about trains. '.repeat(8)
const TOTAL: BudgetConfig = { timezone: 'UTC', warnAt: 1, prices: {}, total: { month: { tokens: 10_000_000 } } }

const script: Script = (request) => {
  if (isCheckpoint(request)) return textReply('done', { usage })
  const condenses = JSON.stringify(request.system ?? '').includes('You condense')
  return textReply(condenses ? SUMMARY : `heard ${lastUserText(request).split('\n').at(-1) ?? ''}`, { usage })
}

const session = { queue: { max: 100, busy: 'queue' }, checkpoint: { turns: 100 } } as const
const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Talk.', tools: ['memory'] }

/** Returns the tokens of every payer. */
function spent({ dataDir }: Pick<Household, 'dataDir'>): Readonly<Record<string, number>> {
  return withDatabase(join(dataDir, 'parley.db'), (database) =>
    Object.fromEntries(
      (
        database.prepare('SELECT payer, tokens FROM budget_counts').all() as {
          readonly payer: string
          readonly tokens: number
        }[]
      ).map(({ payer, tokens }) => [payer, tokens]),
    ),
  )
}

async function startHouse(budgets: BudgetConfig, more: HouseholdOptions = {}) {
  const home = await startHousehold({
    script,
    streaming: false,
    ...more,
    config: { agents: [agent], session, budgets, ...more.config },
  })
  const { world, ledger } = home.telegram
  const ask = async (text: string, from = 111) => {
    const after = ledger.mark()
    world.say({ from, text })
    return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })).text
  }
  const calls = () => home.anthropic?.ledger.requests().length ?? 0
  return Object.assign(home, { ask, calls })
}

describe('what counts', () => {
  it('C33: answers, summaries, checkpoints and side questions, each once, for their chat and person as well', async () => {
    const house = await startHouse({
      ...TOTAL,
      chat: { each: { day: { tokens: 1e9 } } },
      person: { each: { day: { tokens: 1e9 } } },
    })
    for (const question of [1, 2, 3, 4, 5])
      expect(await house.ask(`question ${question}`)).toBe(`heard question ${question}`)
    expect(house.calls()).toBe(5)
    expect(await house.ask('/compact')).toMatch(/^Done: a summary/)
    expect(house.calls()).toBe(6)
    expect(await house.ask('/checkpoint')).toMatch(/^Done: 0 new/)
    expect(house.calls()).toBe(7)
    expect(await house.ask('/side and now?')).toBe('heard and now?')
    expect(house.calls()).toBe(8)
    const each = 8 * 340
    expect(spent(house)).toEqual({ 'total:': each, 'chat:telegram:direct:111': each, 'person:ada': each })
    // Neither of these asks a model.
    for (const command of ['/budget', '/usage', '/help']) await house.ask(command)
    expect(house.calls()).toBe(8)
  })

  it('C33: the check before an answer, and nobody is answered when it may not be asked any more', async () => {
    const precheck = { model: 'anthropic/small' }
    const routing = {
      ownerAlwaysTriggers: false,
      access: { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'always', precheck }] },
    } as const
    const house = await startHouse(TOTAL, {
      routing,
      script: ({ model }) => textReply(model === 'small' ? 'yes' : 'fine', { usage }),
    })
    const { id: group } = house.telegram.world.addChat({ type: 'group', title: 'Club', members: [111, 444] })
    const say = (text: string) => String(house.telegram.world.say({ from: 444, chat: group, text }).message_id)
    const outcome = async (id: string) => (await house.daemon.operator.why(id))[0]?.outcome
    const first = say('hello')
    await expect.poll(() => outcome(first), POLL).toBe('answered')
    expect(spent(house)).toEqual({ 'total:': 680 })
    await house.restart({ budgets: { ...TOTAL, total: { month: { tokens: 700 } } } })
    const second = say('hello?')
    await expect.poll(() => outcome(second), POLL).toBe('failed')
    expect(house.calls()).toBe(2)
  })

  it('C33: recordings that are heard, and answers that are spoken; where nothing is left they are named and written', async () => {
    const audio = await startOpenAiServer({ keyless: true })
    onTestFinished(audio.close)
    const settings = {
      agents: [{ ...agent, voice: 'always' }],
      audio: {
        ...{ baseUrl: audio.baseUrl, limits: DEFAULT_AUDIO_LIMITS, transcribe: { model: 'whisper-1' } },
        speak: { model: 'tts-1', voice: 'alloy', format: 'opus' },
      },
    } as const
    const house = await startHouse(TOTAL, { config: settings })
    const { world, ledger } = house.telegram
    const note = async () => {
      const after = ledger.mark()
      const file = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf('buy milk'), more: { duration: 3 } } as const
      world.say({ from: 111, text: '', extra: fileFields(world, file) })
      return ledger.nextFromBot('sent', { after })
    }
    expect((await note()).file).toBeDefined()
    const counted = spent(house)['total:'] ?? 0
    // 340 for the model; the words that are spoken count a token a character.
    expect(counted).toBeGreaterThan(340 + 20)
    expect(counted).toBeLessThan(340 + 1_000)
    expect(audio.ledger.all(({ kind }) => kind === 'heard')).toHaveLength(1)
  })
})

describe('a schedule', () => {
  it('C33: is stopped by its own budget: the chat reads nothing, the owners are notified once', async () => {
    const clock = setClock('2026-11-26T07:59:00Z')
    const house = await startHouse(
      { timezone: 'UTC', warnAt: 1, prices: {}, schedule: { only: { morning: { month: { tokens: 50 } } } } },
      {
        clock,
        schedules: () => [
          {
            id: toScheduleId('morning'),
            definition: {
              ...{ cron: '0 8 * * *', timezone: 'UTC', prompt: 'What is new?', overlap: 'skip' },
              ...{ deliverTo: parseAddress('telegram:direct:444'), missed: { kind: 'skip' } },
            },
          },
        ],
      },
    )
    const { world } = house.telegram
    await house.ask('hello')
    const texts = (chat: number) => world.messages(chat, { by: 'bot' }).map(({ message }) => message.text)
    clock.set('2026-11-26T08:00:00Z')
    const told =
      'My budget for the schedule morning for this month is smaller than one answer may cost; my owner can raise it.'
    await expect.poll(() => texts(111), POLL).toContain(told)
    const slots = () => house.daemon.operator.schedules.list()
    await expect.poll(async () => JSON.stringify(await slots()), POLL).toContain('failed')
    expect(texts(444)).toEqual([])
    expect(house.calls()).toBe(1)
  })
})

describe('other bots', () => {
  it('C33, F-D11: are stopped at their budget, and people are not', async () => {
    const robots = { bots: 'mentioned', botIds: ['telegram:7000009'] } as const
    const routing = {
      access: { direct: 'owner', groups: [{ match: {}, who: 'public', trigger: 'mention', ...robots }] },
    } as const
    const house = await startHouse(
      {
        timezone: 'UTC',
        warnAt: 1,
        prices: {},
        person: { each: { day: { tokens: 1e9 } }, only: { 'telegram:7000009': { day: { tokens: 6_000 } } } },
      },
      { routing, config: { agents: [{ ...agent, answerTokens: 100 }] } },
    )
    const { world } = house.telegram
    world.addUser({ id: 7_000_009, firstName: 'Robot', isBot: true, username: 'robot_bot' })
    const { id: group } = world.addChat({ type: 'group', title: 'Club', members: [111, 444, 7_000_009] })
    const outcome = async (from: number) => {
      const id = String(world.say({ from, chat: group, text: '@parley_bot hello' }).message_id)
      const look = async () => (await house.daemon.operator.why(id))[0]?.outcome
      await expect.poll(look, POLL).toMatch(/^(answered|failed|context)$/)
      return look()
    }
    let answered = 0
    while ((await outcome(7_000_009)) === 'answered' && answered < 30) answered++
    expect(answered).toBeGreaterThan(0)
    expect(answered).toBeLessThan(20)
    expect(answered * 340).toBeLessThanOrEqual(6_000)
    expect(await outcome(444)).toBe('answered')
  })
})
