import { describe, expect, it, onTestFinished } from 'vitest'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import type { BudgetConfig } from '../../src/core/budget.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const usage = { input_tokens: 450, output_tokens: 50 }
const CLUB = -1001000000001

/** Looks something up, which waits for the gate, and answers then; each of the two calls costs 500 tokens. */
const script: Script = (request) =>
  toolResult(request) === undefined
    ? { blocks: [{ type: 'tool_use', name: 'look_up', input: {} }], usage }
    : textReply('fine', { usage })

/** One asks in the group, and another joins the turn while it looks something up; returns what is answered. */
async function joined(first: number, second: number, budgets: Partial<BudgetConfig>): Promise<string> {
  const gate = createGate()
  const log = new AwaitedLog()
  const lookUp: Tool = {
    ...{
      class: 'pure',
      reach: 'inside',
      spec: { name: 'look_up', description: 'Looks.', parameters: { type: 'object' } },
    },
    async run() {
      await gate.pass()
      return 'found'
    },
  }
  const { telegram } = await startHousehold({
    ...{ script, streaming: false, logger: log, clock: setClock('2026-11-26T12:00:00Z'), tools: { books: [lookUp] } },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
    config: {
      agents: [
        {
          id: toAgentId('main'),
          model: 'anthropic/rehearsal',
          prompt: 'Be calm.',
          tools: ['books'],
          answerTokens: 100,
        },
      ],
      session: { queue: { max: 100, busy: 'steer' } },
      budgets: { timezone: 'UTC', warnAt: 1, prices: { 'anthropic/rehearsal': { input: 1, output: 1 } }, ...budgets },
    },
  })
  const { world, ledger } = telegram
  world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, members: [111, 444, 555] })
  world.say({ from: first, chat: CLUB, text: '@parley_bot what is it?' })
  await gate.reached
  world.say({ from: second, chat: CLUB, text: '@parley_bot and for me?' })
  await log.line('A message was decided', { nth: 2 })
  const after = ledger.mark()
  gate.release()
  return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === CLUB })).text
}

/** Enough for the first call, and not for the second. */
const SMALL = { day: { tokens: 900 } }

describe('who pays once somebody has joined a turn', () => {
  it('C33, F-I12: whoever has joined, so that nobody who has spent theirs keeps others from an answer', async () => {
    expect(await joined(444, 111, { person: { only: { bob: SMALL } } })).toBe('fine')
  })

  it('C33, F-I12: a known person is not stopped by the budget of the stranger whose turn they have joined', async () => {
    expect(await joined(555, 111, { strangers: { each: SMALL, together: { day: { tokens: 100_000 } } } })).toBe('fine')
  })

  it('C33, F-I12: whoever began it, where the one who has joined has nothing left', async () => {
    expect(await joined(111, 444, { person: { only: { bob: { day: { tokens: 100 } } } } })).toBe('fine')
  })

  it('C33, F-I12: nobody, where neither has anything left', async () => {
    expect(await joined(444, 111, { person: { each: SMALL, only: { ada: { day: { tokens: 100 } } } } })).toContain(
      'budget',
    )
  })
})

describe('a recording of one of several who ask together', () => {
  it.each([
    ['is heard at the cost of its sender', 1_000, true],
    ['is not heard at the cost of somebody else, who is answered all the same', 1, false],
  ])('C33, F-I12: %s', async (_what, tokens, isHeard) => {
    const audio = await startOpenAiServer({ keyless: true })
    onTestFinished(audio.close)
    const gate = createGate()
    const log = new AwaitedLog()
    const { telegram, anthropic } = await startHousehold({
      script: () => textReply('fine', { usage, holds: [{ beforeDelta: 0, gate: gate }] }),
      ...{ streaming: false, logger: log, clock: setClock('2026-11-26T12:00:00Z') },
      routing: policy({
        people: [owner('ada', 'telegram:111')],
        access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
      }),
      config: {
        agents: [
          { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Talk.', tools: [], answerTokens: 100 },
        ],
        session: { queue: { max: 100, busy: 'queue' } },
        audio: { baseUrl: audio.baseUrl, limits: DEFAULT_AUDIO_LIMITS, transcribe: { model: 'whisper-1' } },
        budgets: {
          ...{ timezone: 'UTC', warnAt: 1, prices: {}, person: { each: { day: { tokens: 1e9 } } } },
          strangers: { each: { day: { tokens } } },
        },
      },
    })
    const { world, ledger } = telegram
    world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, members: [111, 555] })
    world.say({ from: 111, chat: CLUB, text: '@parley_bot what is it?' })
    await gate.reached
    const note = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf('buy milk'), more: { duration: 3 } } as const
    const caption = { caption: '@parley_bot', caption_entities: [{ type: 'mention', offset: 0, length: 11 }] }
    world.say({ from: 555, chat: CLUB, text: '', extra: { ...fileFields(world, note), ...caption } })
    await log.line('A message was decided', { nth: 2 })
    world.say({ from: 111, chat: CLUB, text: '@parley_bot and now?' })
    await log.line('A message was decided', { nth: 3 })
    const after = ledger.mark()
    let answers = 0
    gate.release()
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'fine' && ++answers === 2 })
    expect(audio.ledger.all(({ kind }) => kind === 'heard')).toHaveLength(isHeard ? 1 : 0)
    const shown = JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)
    expect([shown.includes('and now?'), shown.includes('buy milk')]).toEqual([true, isHeard])
  })
})
