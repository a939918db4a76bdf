import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { toolResult } from './obedient.ts'

/** Too short to be known by itself wherever it is repeated. */
const WORDS = 'zqx eel'

const script: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('Found.')
  const [, tool, args = ''] = /do (\w+) (\{.*\})/.exec(lastUserText(request)) ?? []
  if (tool !== undefined) return { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) }] }
  return textReply('fine')
}

it.each([
  ['sessions_history', (key: string) => ({ sessionKey: key })],
  ['session_search', () => ({ query: 'zqx' })],
  ['sessions_list', () => ({ messageLimit: 5 })],
  ['memory_search', () => ({ query: 'zqx' })],
] as const)(
  'S41: of what %s has shown elsewhere nothing is left of whoever is forgotten, however few words',
  async (tool, input) => {
    const { home, world, say, addGroup, rows } = await forgettingHouse({ script })
    const chat = addGroup('Family')
    await say('hello', { chat })
    if (tool === 'memory_search') await say(`/remember ${WORDS}`, { from: 444, chat })
    else world.say({ from: 444, chat, text: WORDS })
    world.say({ from: 555, chat, text: 'zqy cod' })
    await say('and now?', { chat })
    await say(`do ${tool} ${JSON.stringify(input(`telegram:group:${chat}`))}`)
    const results = "SELECT data FROM events WHERE type = 'tool_result'"
    expect(rows(results)).toContain('zqx')
    expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
    expect(rows(results)).not.toContain('zqx')
    await expect.poll(() => holding(home.dataDir, WORDS)).toEqual([])
  },
)

it('S41: an answer that lists a conversation by its first words keeps none of whoever is forgotten, however few', async () => {
  const { home, world, say, addGroup, rows } = await forgettingHouse({})
  const chat = addGroup('Family')
  world.say({ from: 444, chat, text: WORDS })
  await say('hello', { chat })
  expect(await say('/sessions', { chat })).toContain(WORDS)
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  expect(rows('SELECT part FROM outbox')).not.toContain(WORDS)
  await expect.poll(() => holding(home.dataDir, WORDS)).toEqual([])
})

it('S41: of a long address by which lists call a conversation nothing is left, however it is cut', async () => {
  const { home, world, say, addGroup, rows } = await forgettingHouse({ script })
  const chat = addGroup('Family')
  world.say({ from: 444, chat, text: `look at https://example.com/zqxeel/${'abc/'.repeat(60)} now` })
  await say('hello', { chat })
  expect(await say('/sessions', { chat })).toContain('zqxeel')
  await say('do sessions_list {"messageLimit":1}')
  expect(rows("SELECT data FROM events WHERE type = 'tool_result'")).toContain('zqxeel')
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, 'zqxeel')).toEqual([])
})

it('S41: of what lists of conversations and reminders have shown nothing is left of whoever is forgotten, however few words', async () => {
  const { home, world, say, addGroup, rows } = await forgettingHouse({ script })
  const chat = addGroup('Family')
  world.say({ from: 444, chat, text: WORDS })
  await say('hello', { chat })
  await say(`/remind in 3 hours ${WORDS}`, { from: 444, chat })
  await say('do sessions_list {"messageLimit":1}')
  await say('do schedule_list {}', { chat })
  const results = "SELECT data FROM events WHERE type = 'tool_result'"
  expect(rows(results).split('zqx')).toHaveLength(3)
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  expect(rows(results)).not.toContain('zqx')
  await expect.poll(() => holding(home.dataDir, WORDS)).toEqual([])
})

it('S41: few words that others have said too stay in what was shown of these', async () => {
  const { home, world, say, addGroup, rows } = await forgettingHouse({ script })
  const [family, school] = [addGroup('Family'), addGroup('School')]
  for (const chat of [family, school]) await say('good morning', { chat })
  world.say({ from: 444, chat: family, text: 'hello' })
  world.say({ from: 444, chat: school, text: 'is it late' })
  world.say({ from: 555, chat: school, text: 'hello' })
  await say('and now?', { chat: school })
  await recorded(home)
  for (const chat of [family, school])
    await say(`do sessions_history ${JSON.stringify({ sessionKey: `telegram:group:${chat}` })}`)
  await say('/sessions', { chat: school })
  await say('/title hello', { chat: school })
  expect(await say('/forget last', { from: 444, chat: family })).toMatch(/^Forgotten/)
  const results = JSON.parse(rows("SELECT data FROM events WHERE type = 'tool_result' ORDER BY seq"))
  expect(results.map(({ data }: { data: string }) => data.includes('hello'))).toEqual([false, true])
  expect(rows("SELECT part FROM outbox WHERE part LIKE '%called%'")).toContain('hello')
})

it('S41: of what was shown elsewhere nothing is left however long it is, and however a message breaks its lines', async () => {
  const { home, world, say, addGroup, rows } = await forgettingHouse({ script })
  const chat = addGroup('Family')
  await say('hello', { chat })
  for (let at = 0; at < 12; at++) world.say({ from: 555, chat, text: `${at} ${'tea and '.repeat(450)}` })
  world.say({ from: 444, chat, text: 'the zqx\ngate opens\nafter dark\nat nine' })
  await say('and now?', { chat })
  await say(`do sessions_history ${JSON.stringify({ sessionKey: `telegram:group:${chat}` })}`)
  expect(rows("SELECT data FROM events WHERE type = 'tool_result'")).toContain('zqx')
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, 'zqx')).toEqual([])
})

it('S41: of words without spaces between them nothing is left in an answer that repeats a part', async () => {
  const part = '明天早上九点要去医院做手术'
  const { home, world, say, addGroup } = await forgettingHouse({ script: () => textReply(`小明${part}。`) })
  const chat = addGroup('Family')
  world.say({ from: 444, chat, text: `我告诉你们，他${part}，要住院` })
  expect(await say('what?', { chat })).toContain(part)
  await say('what again?', { chat })
  expect(await say('/forget me yes', { from: 444, chat })).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, part)).toEqual([])
})
