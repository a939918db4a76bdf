import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import { type Household, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { MODEL, noting, remembering } from './remembering.ts'
import { setClock } from './set-clock.ts'

/** Answers each request with a number of its own, so that no two answers are alike. */
function numbered(): Script {
  let no = 0
  return (request) => textReply(`answer ${++no} to ${lastUserText(request).split('\n').at(-1)}`)
}

function household(more: Parameters<typeof startHousehold>[0] = {}): Promise<Household> {
  const tools = ['time', ...Object.keys(more.tools ?? {})]
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools }]
  return startHousehold({ script: numbered(), streaming: false, config: { agents }, ...more })
}

interface Place {
  readonly from?: number
  readonly chat?: number
}

async function say({ telegram }: Household, text: string, { from = 111, chat = from }: Place = {}) {
  const mark = telegram.ledger.mark()
  telegram.world.say({ from, chat, text })
  return telegram.ledger.nextFromBot('sent', { after: mark })
}

function prompts({ anthropic }: Household): readonly string[] {
  return anthropic?.ledger.requests().map(({ messages }) => JSON.stringify(messages)) ?? []
}

async function gone({ telegram }: Household, { messageId }: MessageEntry): Promise<void> {
  const isIt = (entry: MessageEntry) => entry.messageId === messageId
  await telegram.ledger.nextFromBot('deleted', { where: isIt, after: 0 })
}

async function digested({ daemon }: Household): Promise<string> {
  const [session] = (await daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
  return JSON.stringify(await daemon.operator.sessions.history(session?.id ?? '', { limit: 200 }))
}

const UNDONE = 'Taken back: the last message and my answer to it. I know neither any more.'
const NOT_YOURS = 'The last exchange here is not yours alone: that is for my owner.'
const NOT_KNOWN = 'Only people whom my owner knows may do that here.'

describe('/undo', () => {
  it('C23: takes the last exchange out of every later prompt, deletes the answer, and keeps the log', async () => {
    const home = await household()
    await say(home, 'the code is 4711')
    const answer = await say(home, 'my secret is blue')
    expect((await say(home, '/undo')).text).toBe(UNDONE)
    await gone(home, answer)
    expect(await digested(home)).toContain('exchange_taken_back')
    expect(await digested(home)).toContain('blue')

    await say(home, 'and now?')
    await home.restart()
    await say(home, 'and later?')
    for (const prompt of prompts(home).slice(-2)) {
      expect(prompt).toContain('the code is 4711')
      expect(prompt).not.toContain('blue')
    }
    expect(prompts(home)).toHaveLength(4)
  })

  it('again takes the exchange before it, until there is none', async () => {
    const home = await household()
    const first = await say(home, 'one')
    const second = await say(home, 'two')
    expect((await say(home, '/undo')).text).toBe(UNDONE)
    await gone(home, second)
    expect((await say(home, '/undo')).text).toBe(UNDONE)
    await gone(home, first)
    expect((await say(home, '/undo')).text).toBe('There is nothing to take back here.')
    await say(home, 'three')
    expect(prompts(home).at(-1)).not.toMatch(/one|two/)
  })

  it('leaves the beginning of the prompt as it was, so that a provider finds it again', async () => {
    const home = await household()
    await say(home, 'one')
    await say(home, 'two')
    await say(home, '/undo')
    await say(home, 'three')
    const [, second, third] = home.anthropic?.ledger.requests() ?? []
    const before = second?.messages.slice(0, 2).map(({ role, content }) => [role, JSON.stringify(content)])
    expect(third?.messages).toHaveLength(3)
    expect(JSON.stringify(third?.messages.slice(0, 2))).toContain('answer 1')
    expect(before?.map(([role]) => role)).toEqual(['user', 'assistant'])
    const words = (messages: unknown) => JSON.stringify(messages).replaceAll(/"cache_control":\{[^}]*\},?/g, '')
    expect(words(third?.messages.slice(0, 2))).toBe(words(second?.messages.slice(0, 2)))
  })

  it('names what a tool has done outside as not taken back', async () => {
    const order: Tool = {
      ...{ class: 'once', reach: 'inside' },
      spec: { name: 'order', description: 'Orders.', parameters: { type: 'object' } },
      run: async () => 'ordered',
    }
    let asked = 0
    const script: Script = () =>
      ++asked === 1 ? { blocks: [{ type: 'tool_use', name: 'order', input: {} }] } : textReply('done')
    const home = await household({ script, tools: { shop: [order] } })
    await say(home, 'order milk')
    expect((await say(home, '/undo')).text).toBe(`${UNDONE} What these tools did is not taken back: order.`)
    await say(home, 'and?')
    expect(prompts(home).at(-1)).not.toContain('milk')
  })

  it('names no tool that was refused, and leaves no question open for a yes', async () => {
    const order: Tool = {
      ...{ class: 'once', reach: 'beyond' },
      spec: { name: 'order', description: 'Orders.', parameters: { type: 'object' } },
      run: async () => 'ordered',
    }
    const script: Script = (request) =>
      lastUserText(request).endsWith('order milk') && toolResult(request) === undefined
        ? { blocks: [{ type: 'tool_use', name: 'order', input: {} }] }
        : textReply('done')
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await household({ script, clock, tools: { shop: [order] } })
    const codeOf = ({ text }: MessageEntry): string => /\/approve (\w+)/.exec(text)?.[1] ?? ''
    const refused = codeOf(await say(home, 'order milk'))
    const mark = home.telegram.ledger.mark()
    await say(home, `/deny ${refused}`)
    await home.telegram.ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text === 'done' })
    expect((await say(home, '/undo')).text).toBe(UNDONE)

    const waits = clock.timerOf(120_000, 5_000)
    const later = home.telegram.ledger.mark()
    const open = codeOf(await say(home, 'order milk'))
    await waits
    clock.skip(120_000)
    await home.telegram.ledger.nextFromBot('sent', { after: later, where: ({ text }) => text === 'done' })
    expect((await say(home, '/undo')).text).toContain('Taken back')
    expect((await say(home, `/approve ${open}`)).text).toContain('is over')
  })

  it('of what is part of a summary says so, and takes nothing back', async () => {
    const summary = textReply(`They counted. ${'Each number was said once, in its order. '.repeat(3)}`)
    const script: Script = ({ system }) =>
      JSON.stringify(system ?? '').includes('You condense') ? summary : textReply('fine')
    const home = await household({ script })
    for (const text of ['one', 'two', 'three', 'four', 'five']) await say(home, text)
    expect((await say(home, '/compact')).text).toMatch(/^Done: a summary stands for 1 earlier turn /)
    for (let nth = 0; nth < 4; nth++) expect((await say(home, '/undo')).text).toBe(UNDONE)
    expect((await say(home, '/undo')).text).toMatch(/^What was said last is part of a summary by now/)
  })

  it('waits for no turn: while one runs it says so and does nothing', async () => {
    const gate = createGate()
    const home = await household({ script: () => textReply('slow', { holds: [{ beforeDelta: 0, gate }] }) })
    home.telegram.world.say({ from: 111, text: 'think' })
    await gate.reached
    const running = 'I am still working on something here; /stop ends it.'
    expect((await say(home, '/undo')).text).toBe(running)
    expect((await say(home, '/retry')).text).toBe(running)
    const mark = home.telegram.ledger.mark()
    gate.release()
    expect((await home.telegram.ledger.nextFromBot('sent', { after: mark })).text).toBe('slow')
  })

  it('an edit of what was taken back brings nothing of it into a later prompt', async () => {
    const home = await household()
    const said = home.telegram.world.say({ from: 111, text: 'my secret is blue' })
    await home.telegram.ledger.nextFromBot('sent')
    expect((await say(home, '/undo')).text).toBe(UNDONE)
    const edit = home.telegram.world.edit({ chat: 111, message: said.message_id, text: 'my secret is green' })
    await home.telegram.ledger.confirmed(home.telegram.ledger.updateIdOf(edit))
    await say(home, 'and now?')
    expect(prompts(home).at(-1)).not.toMatch(/blue|green/)
    const [report] = await home.daemon.operator.why(String(said.message_id))
    expect(report?.outcome).toMatch(/^ignored|taken_back/)
  })

  it('is not shown by the title and the last words of the session either', async () => {
    const home = await household()
    await say(home, 'my secret is blue')
    await say(home, '/undo')
    const [session] = (await home.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
    expect(session).toMatchObject({ description: '', preview: '' })
  })

  it('what an edit said is not shown by the title that a model gave the session either', async () => {
    const describing = noting(['describe', { text: 'The gate and bluebird' }])
    const agents = [{ id: toAgentId('main'), model: MODEL, prompt: 'Be brief.', tools: ['memory'] }]
    const home = await household({ script: remembering(describing), config: { agents } })
    const { world, ledger } = home.telegram
    await say(home, 'hello')
    const after = ledger.mark()
    const said = world.say({ from: 111, text: 'it is a nice day' })
    await ledger.nextFromBot('sent', { after })
    const edit = world.edit({ chat: 111, message: said.message_id, text: 'the gate opens with bluebird' })
    await ledger.confirmed(ledger.updateIdOf(edit))
    expect((await say(home, '/checkpoint')).text).toMatch(/^Done/)
    expect((await say(home, '/title')).text).toContain('The gate and bluebird')
    expect((await say(home, '/undo')).text).toMatch(/^Taken back/)
    expect((await say(home, '/title')).text).not.toContain('bluebird')
  })
})

describe('in a group', () => {
  async function group(more: Parameters<typeof startHousehold>[0] = {}) {
    const home = await household(more)
    home.telegram.world.addUser({ id: 666, firstName: 'Dee' })
    const { id } = home.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555, 666] })
    return { home, id, by: (from: number) => ({ from, chat: id }) }
  }

  it('/undo and /retry are for whoever asked and for an owner; guests are refused', async () => {
    const { home, by } = await group()
    await say(home, '@parley_bot where is the key?', by(111))
    for (const command of ['/undo', '/retry']) {
      expect((await say(home, command, by(444))).text).toBe(NOT_YOURS)
    }
    expect((await say(home, '/undo', by(555))).text).toBe(NOT_KNOWN)
    expect((await say(home, '/retry', by(555))).text).toBe('Only people whom my owner knows may do that.')
    await say(home, '@parley_bot where is the car?', by(444))
    expect((await say(home, '/undo', by(444))).text).toBe(UNDONE)
    expect((await say(home, '/undo', by(111))).text).toBe(UNDONE)
    expect(prompts(home)).toHaveLength(2)
  })

  it('takes back what was answered, not what somebody else said since and got no answer to', async () => {
    const script: Script = (request) => textReply(/thanks$/.test(lastUserText(request)) ? '<NO_REPLY>' : 'fine')
    const { home, id, by } = await group({ script })
    await say(home, '@parley_bot my secret is blue', by(111))
    const thanks = home.telegram.world.say({ from: 444, chat: id, text: '@parley_bot thanks' })
    await home.telegram.ledger.confirmed(home.telegram.ledger.updateIdOf(thanks))
    await expect.poll(() => prompts(home).length).toBe(2)
    await expect.poll(async () => (await say(home, '/undo', by(111))).text).toBe(UNDONE)
    await say(home, '@parley_bot and now?', by(111))
    expect(prompts(home).at(-1)).not.toContain('blue')
    expect(prompts(home).at(-1)).toContain('thanks')
  })

  it('what others said meanwhile to nobody stays, for the next prompt', async () => {
    const { home, id, by } = await group()
    home.telegram.world.say({ from: 444, chat: id, text: 'dinner is at seven' })
    await say(home, '@parley_bot my secret is blue', by(111))
    await say(home, '/undo', by(111))
    await say(home, '@parley_bot when?', by(111))
    expect(prompts(home).at(-1)).toContain('dinner is at seven')
    expect(prompts(home).at(-1)).not.toContain('blue')
  })
})

describe('/retry', () => {
  it('takes the last answer back and answers the same words once more', async () => {
    const home = await household()
    await say(home, 'one')
    const answer = await say(home, 'two')
    expect(answer.text).toBe('answer 2 to two')
    const mark = home.telegram.ledger.mark()
    home.telegram.world.say({ from: 111, text: '/retry' })
    const texts = ['I am answering that once more.', 'answer 3 to two']
    for (const text of texts) {
      await home.telegram.ledger.nextFromBot('sent', { after: mark, where: (entry) => entry.text === text })
    }
    await gone(home, answer)
    const [, second, third] = home.anthropic?.ledger.requests() ?? []
    expect(third?.messages).toEqual(second?.messages)
    await say(home, 'three')
    expect(prompts(home).at(-1)?.split('two')).toHaveLength(3)
    expect(prompts(home).at(-1)).not.toContain('answer 2')
  })

  it('answers the words that an edit gave the message since', async () => {
    const home = await household()
    const said = home.telegram.world.say({ from: 111, text: 'dinner at sevn' })
    await home.telegram.ledger.nextFromBot('sent')
    const edit = home.telegram.world.edit({ chat: 111, message: said.message_id, text: 'dinner at seven' })
    await home.telegram.ledger.confirmed(home.telegram.ledger.updateIdOf(edit))
    const mark = home.telegram.ledger.mark()
    home.telegram.world.say({ from: 111, text: '/retry' })
    const where = ({ text }: MessageEntry) => text === 'answer 2 to dinner at seven'
    await home.telegram.ledger.nextFromBot('sent', { after: mark, where })
    expect(prompts(home).at(-1)).not.toContain('sevn')
    expect(prompts(home).at(-1)?.split('dinner')).toHaveLength(2)
  })

  it('answers what failed before, and its line is gone', async () => {
    let asked = 0
    const script: Script = () =>
      ++asked === 1 ? { error: { status: 400, type: 'invalid_request_error' } } : textReply('now it works')
    const home = await household({ script })
    const line = await say(home, 'hello')
    const mark = home.telegram.ledger.mark()
    home.telegram.world.say({ from: 111, text: '/retry' })
    const where = ({ text }: MessageEntry) => text === 'now it works'
    await home.telegram.ledger.nextFromBot('sent', { after: mark, where })
    await gone(home, line)
  })

  it('T31: where nothing may be said, nothing is taken back either', async () => {
    const home = await household()
    await say(home, 'one')
    await say(home, '/send off')
    expect((await say(home, '/retry')).text).toMatch(/^I say nothing here now/)
    expect(prompts(home)).toHaveLength(1)
    expect(await digested(home)).not.toContain('exchange_taken_back')
    await say(home, '/send on')
    expect((await say(home, 'two')).text).toBe('answer 2 to two')
  })

  it('of nothing says so, and asks no model', async () => {
    const home = await household()
    expect((await say(home, '/retry')).text).toBe('There is nothing to answer again here.')
    await say(home, 'one')
    await say(home, '/undo')
    expect((await say(home, '/retry')).text).toBe('There is nothing to answer again here.')
    expect(prompts(home)).toHaveLength(1)
  })

  it('can be taken back like any exchange', async () => {
    const home = await household()
    await say(home, 'one')
    const mark = home.telegram.ledger.mark()
    home.telegram.world.say({ from: 111, text: '/retry' })
    const where = ({ text }: MessageEntry) => text === 'answer 2 to one'
    const again = await home.telegram.ledger.nextFromBot('sent', { after: mark, where })
    expect((await say(home, '/undo')).text).toBe(UNDONE)
    await gone(home, again)
    await say(home, 'two')
    expect(prompts(home).at(-1)).not.toContain('one')
  })
})
