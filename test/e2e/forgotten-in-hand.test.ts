import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { heldHook } from './held-hook.ts'
import { recorded } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'
import { startSlackHousehold } from './slack-household.ts'

const MARK = 'zq9canary-4711'
const GROUP = -1001234567890

/** What says "slowly" waits, and the mark is said then. */
async function slowHouse() {
  const gate = createGate()
  const script: Script = (request) => {
    const text = lastUserText(request)
    return text.includes('slowly')
      ? { ...textReply(`it is ${MARK}`), holds: [{ beforeDelta: 0, gate }] }
      : textReply('fine')
  }
  return { ...(await forgettingHouse({ script })), gate }
}

it.each([
  ['an edit', 'edit'],
  ['a reply', 'reply'],
] as const)('S41: %s that gives again what is forgotten once its turn has ended leaves no byte', async (_what, how) => {
  const { home, world, ledger, gate, say } = await slowHouse()
  const { message_id: id } = world.say({ from: 111, text: `slowly, it is ${MARK}` })
  await gate.reached
  expect(await say('/forget last')).toMatch(/^Nothing is removed yet/)
  if (how === 'edit') world.edit({ chat: 111, message: id, text: `slowly, it is ${MARK} still` })
  else world.say({ from: 111, text: 'what was that?', replyTo: id })
  const after = ledger.mark()
  // Commands are answered in order: what came before this one is stored.
  expect(await say('/whoami')).toContain('ada')
  gate.release()
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === `it is ${MARK}` })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

/** In private the agent asks the group's session; who answers there is held, and says what it was shown. */
async function askingElsewhere() {
  const gate = createGate()
  const key = `telegram:group:${GROUP}`
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`result: ${result.includes(MARK) ? MARK : result}`)
    const text = lastUserText(request)
    if (text.includes('begin'))
      return {
        blocks: [
          {
            type: 'tool_use',
            name: 'sessions_send',
            input: { sessionKey: key, message: 'what is it?', timeoutSeconds: 60 },
          },
        ],
      }
    if (text.includes('what is it?')) return { ...textReply(`it is ${MARK}`), holds: [{ beforeDelta: 0, gate }] }
    return textReply('fine')
  }
  const house = await forgettingHouse({ script })
  house.world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  return { ...house, gate }
}

it('S41: an answer of another conversation that comes after its words were forgotten stays nowhere', async () => {
  const { home, world, ledger, gate, say, prompts } = await askingElsewhere()
  await say(`it is ${MARK}`, { from: 444, chat: GROUP })
  world.say({ from: 111, text: 'begin' })
  await gate.reached
  await say('/forget last', { from: 444, chat: GROUP })
  const after = ledger.mark()
  gate.release()
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 111 })
  expect(text).toContain('forgotten, deleted or taken back meanwhile')
  expect(prompts().at(-1)).not.toContain(MARK)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: an answer of another conversation comes, whatever else is forgotten there while it is awaited', async () => {
  const { world, ledger, gate, say } = await askingElsewhere()
  await say('hello', { from: 444, chat: GROUP })
  world.say({ from: 111, text: 'begin' })
  await gate.reached
  world.say({ from: 444, chat: GROUP, text: 'the bin goes out' })
  await say('/forget last', { from: 444, chat: GROUP })
  const after = ledger.mark()
  gate.release()
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 111 })
  expect(text).toBe(`result: ${MARK}`)
})

it('S41: a digest that waits for a hook while its words are forgotten is made again without them', async () => {
  const clock = setClock('2026-11-01T08:00:00Z')
  const { hook, asked, answer } = await heldHook('before_save', { held: 'Summarise' })
  const schedules: readonly ConfiguredSchedule[] = [
    {
      id: toScheduleId('morning'),
      definition: {
        ...{
          cron: '0 9 * * *',
          timezone: 'Etc/UTC',
          prompt: 'Summarise the group.',
          missed: { kind: 'once' },
          overlap: 'skip',
        },
        digestOf: parseAddress(`telegram:group:${GROUP}`),
        deliverTo: parseAddress('telegram:direct:111'),
      },
    },
  ]
  const script: Script = (request) =>
    textReply(lastUserText(request).includes('Summarise') ? `digest: ${lastUserText(request)}` : 'fine')
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools: ['memory'] }]
  const { home, world, ledger, say } = await forgettingHouse({
    script,
    clock,
    schedules: () => schedules,
    config: { agents, hooks: [hook] },
  })
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  await say('hello')
  await say(`it is ${MARK}`, { from: 444, chat: GROUP })
  await say('the bin goes out', { chat: GROUP })
  clock.set('2026-11-01T09:00:10Z')
  await asked
  expect(await say('/forget me yes', { from: 444, chat: GROUP })).toMatch(/^Forgotten/)
  const after = ledger.mark()
  answer()
  clock.skip(60_000)
  const { text } = await ledger.nextFromBot('sent', { after, where: ({ text }) => text.startsWith('digest: ') })
  expect(text).toContain('the bin goes out')
  expect(text).not.toContain(MARK)
  await recorded(home)
  expect(holding(home.dataDir, MARK)).toEqual([])
})

/** A thread on Slack that is read anew: it began before the bot was there, and somebody has said the mark in it since. */
async function threadToRead(hook: Awaited<ReturnType<typeof heldHook>>['hook']) {
  const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)
  const home = await startSlackHousehold({ script, config: { hooks: [hook] } })
  const { world, ledger } = home.slack
  const { id: channel } = world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  world.setMember(channel, false)
  const root = world.say({ from: 'U444', channel, text: 'the boiler leaks' })
  world.setMember(channel, true)
  const answered = async (text: string, words: string) => {
    const after = ledger.mark()
    const { ts } = world.say({ from: 'U333', channel, thread: root, text })
    const isAnswer = (entry: (typeof ledger.entries)[number]) =>
      ((entry.kind === 'message' && entry.byBot) || entry.kind === 'whisper') && entry.text.includes(words)
    await ledger.next(isAnswer, { after })
    return ts
  }
  const name = await answered(`<@U0BOT> my code is ${MARK}`, 'heard')
  await answered('!new', 'Done')
  return { home, world, ledger, channel, root, answered, name }
}

it('S41: what is forgotten while a thread is read and a hook is asked about it is not kept', async () => {
  const { hook, asked, answer, arm } = await heldHook('before_save', { held: 'the boiler leaks', armed: false })
  const { home, world, ledger, channel, root, name } = await threadToRead(hook)
  arm()
  const after = ledger.mark()
  world.say({ from: 'U333', channel, thread: root, text: '<@U0BOT> what now?' })
  await asked
  await home.daemon.operator.forgetting.forget({ kind: 'message', name, confirmed: true })
  answer()
  await ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes('what now?'), { after })
  const prompt = JSON.stringify(home.anthropic.ledger.requests().at(-1)?.messages)
  expect(prompt).toContain('the boiler leaks')
  expect(prompt).not.toContain(MARK)
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})

it('S41: no hook is asked about what was forgotten before a thread is read', async () => {
  const { hook, heard } = await heldHook('before_save', { armed: false })
  const { home, answered, name } = await threadToRead(hook)
  await home.daemon.operator.forgetting.forget({ kind: 'message', name, confirmed: true })
  const before = heard.length
  await answered('<@U0BOT> what now?', 'what now?')
  const since = heard.slice(before).join('\n')
  expect(since).toContain('the boiler leaks')
  expect(since).not.toContain(MARK)
})
