import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'

const GROUP = -2001
const MOVED = 'A group has a new id; change it in the configuration where it is named'
const hear: Script = (request) => textReply(`heard ${lastUserText(request)}`)

/** A group with a small id that anybody may speak in. */
async function family(options: HouseholdOptions = {}): Promise<Household> {
  const groups = [{ match: { chat: String(GROUP) }, who: 'public', trigger: 'mention' }] as const
  const routing = { access: { direct: 'allowlist', groups }, ...options.routing } as const
  const house = await startHousehold({ script: hear, streaming: false, ...options, routing })
  house.telegram.world.addChat({ type: 'group', title: 'Family', id: GROUP, members: [111, 444, 555] })
  return house
}

/** Says it to the bot and returns the answer. */
async function ask({ telegram }: Household, chat: number, text: string) {
  const after = telegram.ledger.mark()
  telegram.world.say({ from: 444, chat, text: `@parley_bot ${text}` })
  return telegram.ledger.next(
    (entry): entry is MessageEntry => entry.kind === 'message' && entry.botId !== null && entry.text.includes(text),
    { after },
  )
}

function lastPrompt({ anthropic }: Household): string {
  return JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)
}

async function sessions({ daemon }: Household): Promise<number> {
  return (await daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: true })).total
}

it('F-C07: what was said before the notice of the same poll is said in the conversation of the group', async () => {
  const house = await family()
  const { world, ledger } = house.telegram
  await ask(house, GROUP, 'one')
  await house.daemon.stop()
  world.say({ from: 444, chat: GROUP, text: '@parley_bot two' })
  const { id } = world.migrate(GROUP)
  world.say({ from: 444, chat: id, text: '@parley_bot three' })
  await house.restart()
  await ledger.nextFromBot('sent', { where: ({ chatId, text }) => chatId === id && text.includes('three') })
  expect(await sessions(house)).toBe(1)
  expect(lastPrompt(house)).toMatch(/heard \[Bob\] @parley_bot one.*two.*three/)
})

it('F-C07, T31: a turn that began before its group got a new id says nothing where that is muted', async () => {
  const [gate, log] = [createGate(), new AwaitedLog()]
  const house = await family({ logger: log, script: () => textReply('done', { holds: [{ beforeDelta: 0, gate }] }) })
  const { world, ledger } = house.telegram
  world.say({ from: 444, chat: GROUP, text: '@parley_bot work' })
  await gate.reached
  const { id } = world.migrate(GROUP)
  await log.line(MOVED)
  const after = ledger.mark()
  world.say({ from: 111, chat: id, text: '/mute@parley_bot 1h' })
  await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === id })
  gate.release()
  expect(await Promise.race([log.line('Answered'), log.line('Ended without an answer')])).toMatchObject({
    sentence: 'Ended without an answer',
  })
})
