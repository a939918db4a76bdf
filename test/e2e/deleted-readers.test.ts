import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { pdf } from '../fakes/files.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { recorded } from './household.ts'
import { callIn, toolResult } from './obedient.ts'
import { isCheckpoint, noting } from './remembering.ts'

const BOT = '<@900000000000000001>'
const WORDS = ['text', 'name', 'file', 'pdf', 'sticker', 'poll', 'old', 'new'].map((form) => `quorlim${form}vash`)
const [TEXT = '', NAME = '', FILE = '', PDF = '', STICKER = '', POLL = '', OLD = '', NEW = ''] = WORDS

/** Makes the call that stands behind "do" with its arguments; says what it returned where that is asked for. */
const script: Script = (request) => {
  if (isCheckpoint(request)) {
    const calls = ['memory_save', 'working_memory', 'describe'].map(
      (name) => [name, { text: `of ${TEXT}`, ...(name === 'memory_save' ? { lines: [1] } : {}) }] as const,
    )
    return noting(...(JSON.stringify(request.messages).includes(TEXT) ? calls : []))(request)
  }
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says ${result}`)
  return callIn(lastUserText(request)) ?? textReply('fine')
}

/** Bob shows and says all that in the channel; Ada, the owner, replies to each, and reads. */
async function workshop() {
  const tools = ['sessions', 'memory', 'files']
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Obey.', tools }]
  const house = await startDiscordHousehold({ script, agents, settings: { streaming: false } })
  const { discord, channel } = house
  const { world, ledger } = discord
  const answered = async (act: () => void): Promise<string> => {
    const after = ledger.mark()
    act()
    const { text } = await ledger.nextFromBot('sent', { after })
    await recorded(house)
    return text
  }
  const say = (text: string, more: object = {}) =>
    answered(() => void world.say({ from: '222', channel, text: `${BOT} ${text}`, ...more }))
  const prompt = () => JSON.stringify(house.anthropic.ledger.requests().findLast((one) => !isCheckpoint(one)))
  return { ...house, world, channel, answered, say, prompt }
}

it('C23: nothing of a message that its writer deleted is in a later prompt, search, list, page or memory', async () => {
  const { world, channel, answered, say, prompt, daemon } = await workshop()
  const said: string[] = []
  const bob = (more: object): Promise<string> =>
    answered(() => {
      const message = world.say({ from: '444', channel, text: `${BOT} look`, ...more } as never)
      said.push(message.id)
    })
  await bob({ text: `${BOT} ${TEXT} it is` })
  await say('/checkpoint')
  const txt = world.attach({ bytes: Buffer.from(`in it: ${FILE}`), name: `${NAME}.txt`, mime: 'text/plain' })
  await bob({ attachments: [txt] })
  await bob({ attachments: [world.attach({ bytes: pdf(PDF), name: 'a.pdf', mime: 'application/pdf' })] })
  await bob({ extra: { sticker_items: [{ id: '1', name: STICKER, format_type: 1 }] } })
  await bob({ extra: { poll: { question: { text: POLL }, answers: [] } } })
  await bob({ text: `${BOT} ${OLD}` })
  world.edit({ channel, message: said.at(-1) ?? '', text: `${BOT} ${NEW}` })
  for (const replyTo of said) await say('a reply of mine', { replyTo })
  for (const word of WORDS)
    if (word !== OLD) expect({ word, shown: prompt().includes(word) }).toEqual({ word, shown: true })
  for (const message of said) world.remove(channel, message)
  const { sessions } = daemon.operator
  const [session] = (await sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
  const id = session?.id ?? ''
  const deletions = async () =>
    (JSON.stringify(await sessions.history(id, { limit: 200 })).match(/"message_deleted"/g) ?? []).length
  await expect.poll(deletions).toBe(said.length)
  const asked = [
    'and now?',
    'do session_search {"query":"reply of mine","limit":50}',
    `do sessions_history ${JSON.stringify({ sessionKey: id, limit: 50, includeTools: false })}`,
    'do sessions_list {"messageLimit":20}',
    'do memory_search {"query":""}',
    '/memory',
    '/sessions',
  ]
  const found: string[] = []
  const look = (where: string, text: string): void => {
    for (const word of WORDS)
      if (text.includes(word))
        found.push(`${where}: ${word}: ${text.slice(Math.max(0, text.indexOf(word) - 200), text.indexOf(word) + 50)}`)
  }
  for (const one of asked) {
    look(one, await say(one))
    look(`prompt of ${one}`, prompt())
  }
  look('list', JSON.stringify(await sessions.list({ limit: 9, offset: 0, inactive: true })))
  expect(found).toEqual([])
})
