import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'
import { toolResult } from './obedient.ts'

/** The model makes them of what is said, so that they repeat none of the words. */
const [NAME, TEXT, CAPTION] = ['canaryname.txt', 'canarytext', 'canarycaption']

/** Sends a file for what says "write". */
const script: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('There it is.')
  if (!lastUserText(request).includes('write')) return textReply('fine')
  const input = { name: NAME, text: TEXT, caption: CAPTION }
  return { blocks: [{ type: 'tool_use', name: 'send_file', input }] }
}

async function sentHouse() {
  const tools = ['files']
  const agents = [{ id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools }]
  const house = await forgettingHouse({ script, config: { agents } })
  const { ledger, world, home } = house
  const after = ledger.mark()
  world.say({ from: 111, text: 'write it down' })
  const file = await ledger.nextFromBot('sent', { after, where: (entry) => entry.file !== undefined })
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'There it is.' })
  await recorded(home)
  const gone = () => ledger.nextFromBot('deleted', { after, where: ({ messageId }) => messageId === file.messageId })
  const held = () => [NAME, TEXT, CAPTION].flatMap((mark) => holding(home.dataDir, mark))
  return { ...house, file, gone, held }
}

describe('a file that the agent has sent', () => {
  it('S41: is forgotten with the words that it answers, in the chat as well', async () => {
    const { say, gone, held } = await sentHouse()
    expect(held()).not.toEqual([])
    expect(await say('/forget last')).toMatch(/^Forgotten: .*2 texts of mine in the outbox.*1 file/)
    await gone()
    await expect.poll(held, { timeout: 30_000 }).toEqual([])
  })

  it('S41: stands for its exchange where it is replied to, of which the command keeps no quotation', async () => {
    const { exchange, file, gone, held } = await sentHouse()
    expect((await exchange('/forget', { replyTo: file.messageId })).answer).toMatch(/^Forgotten: /)
    await gone()
    await expect.poll(held, { timeout: 30_000 }).toEqual([])
  })

  it('S41: is forgotten where its caption is quoted by what stays', async () => {
    const { exchange, rows, file, held } = await sentHouse()
    await exchange('and this one?', { replyTo: file.messageId })
    expect(rows('SELECT data FROM events')).toContain(CAPTION)
    expect((await exchange('/forget', { replyTo: file.messageId })).answer).toMatch(/^Forgotten: /)
    expect(rows('SELECT data FROM events')).toContain('and this one?')
    await expect.poll(held, { timeout: 30_000 }).toEqual([])
  })

  it('C23: is taken back with the answer, and named as done by nobody', async () => {
    const { say, gone } = await sentHouse()
    expect(await say('/undo')).toBe('Taken back: the last message and my answer to it. I know neither any more.')
    await gone()
  })
})

describe('a file that somebody else has replied to', () => {
  /** Bob's file is on record in a session that is over, and in the next one with Cy's question about it alone. */
  async function quotedHouse() {
    const house = await forgettingHouse()
    const { world, say } = house
    const chat = house.addGroup('Family')
    await say('hello', { chat })
    const bytes = Buffer.from('in it is canaryinside')
    const extra = fileFields(world, { as: 'document', name: 'note.txt', bytes })
    const { message_id: id } = world.say({ from: 444, chat, text: '', extra })
    await say('/new', { chat })
    expect(await say('what is in it?', { from: 555, chat, replyTo: id })).toContain('canaryinside')
    return { ...house, chat, id, held: () => holding(house.home.dataDir, 'canaryinside') }
  }

  it.each(['/forget', '/forget me yes'])(
    'S41: goes with %s of whoever has sent it, and what was in it',
    async (text) => {
      const { exchange, say, prompt, chat, id, held } = await quotedHouse()
      const { answer } = await exchange(text, { from: 444, chat, ...(text === '/forget' ? { replyTo: id } : {}) })
      expect(answer).toMatch(/^Forgotten: .*1 file/)
      await say('and now?', { from: 555, chat })
      expect(prompt()).toContain('what is in it?')
      expect(prompt()).not.toContain('canaryinside')
      await expect.poll(held, { timeout: 30_000 }).toEqual([])
    },
  )
})
