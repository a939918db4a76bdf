import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf } from '../../src/rehearsal/recordings.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { withDatabase } from '../store/temp-database.ts'
import { recorded, startHousehold } from './household.ts'
import { isCheckpoint } from './remembering.ts'
import { setClock } from './set-clock.ts'

const usage = { input_tokens: 300, output_tokens: 40 }
const PLENTY = { day: { tokens: 10_000_000 } }
const CLUB = -1001000000001
const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Talk.', tools: ['memory'] }

/** A prompt of a turn fills most of a window of 10,000 tokens. */
const script: Script = (request) => {
  if (isCheckpoint(request)) return textReply('done', { usage })
  const condenses = JSON.stringify(request.system ?? '').includes('You condense')
  return textReply(condenses ? 'They talked about trains. '.repeat(8) : `heard ${lastUserText(request)}`, {
    usage: condenses ? usage : { input_tokens: 9_000, output_tokens: 40 },
  })
}

async function house(access?: 'public', window?: number, audio?: Config['audio']) {
  const home = await startHousehold({
    ...{ script, streaming: false, clock: setClock('2026-11-26T12:00:00Z') },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      ...(access && { access: { direct: access, groups: [{ match: {}, who: access, trigger: 'mention' }] } }),
    }),
    config: {
      ...(audio && { audio }),
      agents: [{ ...agent, ...(window === undefined ? {} : { contextTokens: window }) }],
      budgets: {
        ...{ timezone: 'UTC', warnAt: 1, prices: {}, person: { each: PLENTY } },
        strangers: { each: PLENTY, together: PLENTY },
      },
    },
  })
  const { world, ledger } = home.telegram
  world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, members: [111, 444] })
  const say = async (text: string, from: number, chat = from) => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }) })
    const { text: answer } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
    await recorded(home)
    return answer
  }
  const spent = (): Readonly<Record<string, number>> =>
    withDatabase(join(home.dataDir, 'parley.db'), (database) => {
      const rows = database.prepare('SELECT payer, tokens FROM budget_counts').all()
      return Object.fromEntries((rows as { payer: string; tokens: number }[]).map((row) => [row.payer, row.tokens]))
    })
  return { home, say, spent }
}

it('C33: a checkpoint and a summary that somebody has made in a group are theirs to pay', async () => {
  const { say, spent } = await house('public')
  for (let nth = 0; nth < 6; nth++) await say('@parley_bot hello', nth === 0 ? 444 : 111, CLUB)
  const before = spent()
  expect(await say('/checkpoint', 444, CLUB)).toMatch(/^Done: /)
  expect(await say('/compact', 444, CLUB)).toMatch(/^Done: /)
  expect(spent()).toEqual({ ...before, 'person:bob': (before['person:bob'] ?? 0) + 680 })
})

it('C33: a summary of the conversation of somebody who was let in counts as theirs, not as that of strangers', async () => {
  const { home, say, spent } = await house(undefined, 10_000)
  await say('hello', 111)
  await say('hello', 555)
  const [asked] = await home.daemon.operator.admissions.list()
  const { ledger } = home.telegram
  const after = ledger.mark()
  await say(`/admit ${asked?.code}`, 111)
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 555 })
  const summed = () =>
    home.anthropic?.ledger.requests().filter(({ system }) => JSON.stringify(system).includes('You condense')) ?? []
  for (let nth = 0; nth < 6; nth++) await say('hello', 555)
  await expect.poll(() => summed().length, { timeout: 20_000 }).toBeGreaterThan(0)
  await home.daemon.stop()
  expect(Object.keys(spent()).sort()).toEqual(['person:ada', 'person:telegram:555'])
})

it('C33: a recording that somebody has sent besides is theirs to pay, not of whoever asks something then', async () => {
  const audio = await startOpenAiServer({ keyless: true })
  onTestFinished(audio.close)
  const { home, say, spent } = await house('public', undefined, {
    baseUrl: audio.baseUrl,
    limits: DEFAULT_AUDIO_LIMITS,
    transcribe: { model: 'whisper-1' },
  })
  const { world } = home.telegram
  const voice = { as: 'voice', mime: 'audio/ogg', bytes: recordingOf('buy milk'), more: { duration: 3 } } as const
  world.say({ from: 444, chat: CLUB, text: '', extra: fileFields(world, voice) })
  await say('@parley_bot hello', 111, CLUB)
  expect(audio.ledger.all(({ kind }) => kind === 'heard')).toHaveLength(1)
  expect(spent()).toEqual({ 'person:ada': 9_040, 'person:bob': expect.any(Number) })
})

it('C33: whoever has an exchange answered once more pays for that, and not whoever had asked', async () => {
  const { home, say, spent } = await house('public')
  await say('@parley_bot hello', 444, CLUB)
  const before = spent()
  expect(before['person:ada'] ?? 0).toBe(0)
  const { ledger, world } = home.telegram
  const after = ledger.mark()
  world.say({ from: 111, text: '/retry', chat: CLUB })
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('heard') })
  await recorded(home)
  expect(spent()).toEqual({ ...before, 'person:ada': 9_040 })
})
