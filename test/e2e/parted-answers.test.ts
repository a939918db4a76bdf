import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { type Household, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

type Gates = Readonly<Record<string, ReturnType<typeof createGate>>>

/** Answers with the secret that the conversation holds; a message with the name of a gate waits for it. */
function tellsSecrets(gates: Gates): Script {
  return (request) => {
    const [secret = 'nothing'] = /my secret is \w+/.exec(JSON.stringify(request.messages)) ?? []
    const [, gate] = Object.entries(gates).find(([name]) => lastUserText(request).includes(name)) ?? []
    return textReply(`I know: ${secret}`, gate ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
}

function answer({ telegram }: Household, chat: number): Promise<string> {
  const after = telegram.ledger.mark()
  return telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat }).then(({ text }) => text)
}

async function say(house: Household, from: number, text: string): Promise<string> {
  const answered = answer(house, from)
  house.telegram.world.say({ from, text })
  return answered
}

function shownIn({ telegram }: Household, chat: number): string {
  return telegram.world
    .messages(chat, { by: 'bot' })
    .map(({ message }) => message.text)
    .join('\n')
}

/** Ada's conversation follows her from 111 to 555, where nobody has asked about her secret yet. */
async function linked(direct: 'person' | 'main', gates: Gates = {}) {
  const routing = { direct, people: [owner('ada', 'telegram:111')] } as const
  const house = await startHousehold({
    ...{ script: tellsSecrets(gates), streaming: false, routing },
  })
  await house.daemon.operator.people.link('ada', 'telegram:555')
  await say(house, 555, 'hi')
  await say(house, 111, 'my secret is bluebird')
  const key = direct === 'main' ? 'main' : 'direct:ada'
  const stored = async (text: string) => {
    const received = async () => (await house.daemon.operator.sessions.show(key)).events.map(inText)
    await expect.poll(received).toContainEqual(expect.stringContaining(text))
  }
  return { house, key, stored, part: () => house.daemon.operator.people.unlink('telegram:555') }
}

const inText = (event: unknown): string => JSON.stringify(event)

describe.each(['person', 'main'] as const)('F-H04: with direct: %s, a chat that is parted', (direct) => {
  it('gets no answer bound for it, though its former person has written elsewhere since', async () => {
    const gates = { first: createGate(), second: createGate() }
    const { house, key, stored, part } = await linked(direct, gates)
    const { sessions } = house.daemon.operator
    await say(house, 555, 'and here')
    const busy = sessions.post(key, { text: 'first' })
    await gates.first.reached
    const asked = sessions.post(key, { text: 'second', deliver: true })
    await stored('second')
    house.telegram.world.say({ from: 111, text: 'and me' })
    await stored('and me')
    await part()
    gates.first.release()
    await busy
    const told = answer(house, 111)
    gates.second.release()
    expect(await asked).toMatchObject({ status: 'ok', reply: 'I know: my secret is bluebird' })
    expect(await told).toContain('bluebird')
    await house.daemon.stop()
    expect(shownIn(house, 555).split('\n')).toHaveLength(2)
    await house.restart()
  })

  it('gets no answer to what its turn was asked before', async () => {
    const gates = { slow: createGate() }
    const { house, part } = await linked(direct, gates)
    house.telegram.world.say({ from: 555, text: 'slow: what do you know?' })
    await gates.slow.reached
    await part()
    const told = answer(house, 555)
    gates.slow.release()
    expect(await told).toContain('Please send it again')
    expect(shownIn(house, 555)).not.toContain('bluebird')
  })
})

describe('F-H04: a chat that is parted', () => {
  it('gets no file of what its turn was asked before', async () => {
    const gate = createGate()
    const script: Script = (request) => {
      if (toolResult(request) !== undefined) return textReply('done')
      if (!lastUserText(request).endsWith('as a file')) return textReply('fine')
      const input = { name: 'secret.md', text: 'my secret is bluebird' }
      return { blocks: [{ type: 'tool_use', name: 'send_file', input }], holds: [{ beforeDelta: 0, gate }] }
    }
    const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['files'] }]
    const routing = { direct: 'person', people: [owner('ada', 'telegram:111')] } as const
    const house = await startHousehold({ script, streaming: false, routing, config: { agents } })
    await house.daemon.operator.people.link('ada', 'telegram:555')
    await say(house, 111, 'my secret is bluebird')
    house.telegram.world.say({ from: 555, text: 'all of it as a file' })
    await gate.reached
    await house.daemon.operator.people.unlink('telegram:555')
    const told = answer(house, 555)
    gate.release()
    await told
    await house.daemon.stop()
    const sent = house.telegram.world.messages(555, { by: 'bot' }).map(({ message }) => message.document)
    expect(sent.filter((file) => file !== undefined)).toEqual([])
    await house.restart()
  })

  it('takes nothing from an answer that is owed to another', async () => {
    const gates = { first: createGate() }
    const { house, key, stored, part } = await linked('person', gates)
    const { sessions } = house.daemon.operator
    const busy = sessions.post(key, { text: 'first' })
    await gates.first.reached
    const told = answer(house, 111)
    const asked = sessions.post(key, { text: 'second', deliver: true })
    await stored('second')
    house.telegram.world.say({ from: 555, text: 'me too' })
    await stored('me too')
    await part()
    gates.first.release()
    await Promise.all([busy, asked])
    expect(await told).toContain('bluebird')
  })

  it('gets no answer aside out of a conversation that is not theirs any more', async () => {
    const gates = { slow: createGate() }
    const { house, part } = await linked('person', gates)
    house.telegram.world.say({ from: 555, text: '/side slow: what do you know?' })
    await gates.slow.reached
    await part()
    const told = answer(house, 555)
    gates.slow.release()
    expect(await told).toContain('forbidden')
    expect(shownIn(house, 555)).not.toContain('bluebird')
  })

  it.each(['person', 'main'] as const)(
    'gets no answer aside that waited to be sent, with direct: %s',
    async (direct) => {
      const { house, part } = await linked(direct)
      const held = house.telegram.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
      house.telegram.world.say({ from: 555, text: 'and here' })
      await held.reached
      const asked = house.telegram.world.say({ from: 555, text: '/side what do you know?' })
      const answered = async () => (await house.daemon.operator.why(String(asked.message_id)))[0]?.outcome
      await expect.poll(answered).toBe('control')
      await part()
      const before = shownIn(house, 555)
      held.release()
      await say(house, 555, 'and who am I?')
      expect(shownIn(house, 555).replace(before, '')).not.toContain('bluebird')
    },
  )

  it('gets nothing more of an answer that it saw grow', async () => {
    const gates = { slow: createGate() }
    const routing = { direct: 'person', people: [owner('ada', 'telegram:111')] } as const
    const script: Script = (request) =>
      lastUserText(request).includes('slow')
        ? textReply(`It is${' a long story'.repeat(20)}: bluebird`, {
            holds: [{ beforeDelta: 20, gate: gates.slow }],
          })
        : textReply('fine')
    const house = await startHousehold({ script, routing })
    await house.daemon.operator.people.link('ada', 'telegram:555')
    const { ledger, faults } = house.telegram
    const { message_id: id } = house.telegram.world.say({ from: 555, text: 'slow' })
    const grows = ledger.nextFromBot('sent', { where: ({ chatId, text }) => chatId === 555 && text.includes('story') })
    await gates.slow.reached
    await grows
    const body = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 2 } }
    const wait = faults.add({
      method: 'editMessageText',
      action: { kind: 'answer', when: 'before', status: 429, body },
    })
    gates.slow.release()
    await wait.reached
    const answered = async () => (await house.daemon.operator.why(String(id)))[0]?.outcome
    await expect.poll(answered).toBe('answered')
    await house.daemon.operator.people.unlink('telegram:555')
    const ended = async () => JSON.stringify((await house.daemon.operator.sessions.show('direct:ada')).events)
    await expect.poll(ended, { timeout: 4_000 }).toContain('not that of its reader')
    expect(shownIn(house, 555)).not.toContain('bluebird')
  })

  it('gets no answer that waited for its turn to be sent', async () => {
    const { house, key, stored, part } = await linked('person')
    const held = house.telegram.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
    house.telegram.world.say({ from: 555, text: 'and here' })
    await held.reached
    const asked = house.daemon.operator.sessions.post(key, { text: 'say it', deliver: true })
    expect(await asked).toMatchObject({ status: 'ok', reply: 'I know: my secret is bluebird' })
    await part()
    const before = shownIn(house, 555)
    held.release()
    await stored('not that of its reader')
    expect(shownIn(house, 555)).toBe(before)
  })
})

it('S44: where everybody shares one session, an answer asked for from elsewhere is posted in it', async () => {
  const people = [owner('ada', 'telegram:111'), member('bob', 'telegram:444')]
  const house = await startHousehold({
    script: tellsSecrets({}),
    streaming: false,
    routing: { scope: 'global', people },
  })
  await say(house, 111, 'hello')
  await say(house, 444, 'hello too')
  const told = answer(house, 444)
  const asked = await house.daemon.operator.sessions.post('main', { text: 'greet them', deliver: true })
  expect(asked).toMatchObject({ status: 'ok' })
  expect(await told).toBe('I know: nothing')
})
