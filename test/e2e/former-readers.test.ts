import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { household, member, owner } from '../fakes/routing-policy.ts'
import { type Household, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { startSlackHousehold } from './slack-household.ts'

const ADA = owner('ada', 'telegram:111')
const CY = owner('cy', 'telegram:555')
const BOB = member('bob', 'telegram:444')
const G1 = -1001000000001
const G2 = -1001000000002
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['bank', 'sessions'] }]
const gone = household({ people: [ADA, BOB] })

const pay: Tool = {
  class: 'once',
  spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: { to: { type: 'string' } } } },
  run: async () => 'paid',
}

/** Pays, reads a session, or answers with the secret that it was shown; what a tool has said waits for the gate. */
function obeys(gate?: ReturnType<typeof createGate>): Script {
  return (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says ${result}`, gate ? { holds: [{ beforeDelta: 0, gate }] } : {})
    const said = lastUserText(request)
    const [, to] = /pay (\w+)$/.exec(said) ?? []
    if (to !== undefined) return { blocks: [{ type: 'tool_use', name: 'pay', input: { to } }] }
    const [, sessionKey] = /read (\S+)$/.exec(said) ?? []
    if (sessionKey !== undefined)
      return { blocks: [{ type: 'tool_use', name: 'sessions_history', input: { sessionKey } }] }
    const [secret = 'nothing'] = /my secret is \w+/.exec(JSON.stringify(request.messages)) ?? []
    return textReply(`I know: ${secret}`)
  }
}

async function say({ telegram }: Household, from: number, text: string, chat = from): Promise<string> {
  const after = telegram.ledger.mark()
  telegram.world.say({ from, text, ...(chat === from ? {} : { chat }) })
  return (await telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
}

function shownIn({ telegram }: Household, chat: number): string {
  return telegram.world
    .messages(chat, { by: 'bot' })
    .map(({ message }) => message.text)
    .join('\n')
}

/** Holds the next message that is sent, and with it whatever else waits for that chat. */
async function hold(house: Household, text: string) {
  const held = house.telegram.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
  house.telegram.world.say({ from: 555, text })
  await held.reached
  return held
}

/** Cy (555) is an owner beside Ada, until the configuration is read again. */
async function twoOwners(script: Script) {
  const house = await startHousehold({
    ...{ script, streaming: false, tools: { bank: [pay] }, config: { agents } },
    routing: { people: [ADA, CY, BOB] },
    reload: async () => ({ routing: gone, warnings: [], down: [] }) as unknown as Config,
  })
  await say(house, 111, 'my secret is bluebird')
  await say(house, 555, 'hello')
  await say(house, 444, 'hello')
  return house
}

const expired = async ({ daemon }: Household): Promise<number> => (await daemon.operator.status()).outbox.expired ?? 0

describe('F-H13: an owner who is one no more', () => {
  it('is not shown the card that waited for them', async () => {
    const house = await twoOwners(obeys())
    const held = await hold(house, 'hello again')
    const after = house.telegram.ledger.mark()
    house.telegram.world.say({ from: 444, text: 'pay bluebird' })
    await house.telegram.ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('May I use') })
    await house.daemon.operator.config.reload()
    held.release()
    await expect.poll(() => expired(house)).toBe(1)
    expect(shownIn(house, 555)).not.toContain('bluebird')
  })

  it('is not shown the answer of an owner’s command that waited for them', async () => {
    const house = await twoOwners(obeys())
    const after = house.telegram.ledger.mark()
    const { message_id: id } = house.telegram.world.say({ from: 444, text: 'hello three' })
    await house.telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 444 })
    const held = await hold(house, 'hello again')
    const { message_id: why } = house.telegram.world.say({ from: 555, text: `/why ${id} trace` })
    const told = async () => (await house.daemon.operator.why(String(why))).find(({ sender }) => sender.id === '555')
    await expect.poll(async () => (await told())?.outcome).toBe('control')
    await house.daemon.operator.config.reload()
    held.release()
    await expect.poll(() => expired(house)).toBe(1)
    expect(shownIn(house, 555)).not.toMatch(/bob|444/i)
  })

  it('is not answered from what their turn has read as an owner', async () => {
    const gate = createGate()
    const house = await twoOwners(obeys(gate))
    house.telegram.world.say({ from: 555, text: 'read telegram:direct:111' })
    await gate.reached
    await house.daemon.operator.config.reload()
    const after = house.telegram.ledger.mark()
    gate.release()
    await house.telegram.ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes('send it again') })
    expect(shownIn(house, 555)).not.toContain('bluebird')
  })
})

describe('F-H04: an id that is parted from its person', () => {
  it('is not shown what its person has asked to do there, nor that somebody was asked', async () => {
    const house = await startHousehold({
      ...{ script: obeys(), streaming: false, tools: { bank: [pay] }, config: { agents } },
      routing: { direct: 'person', people: [ADA, BOB] },
    })
    await say(house, 111, 'hello')
    await house.daemon.operator.people.link('ada', 'telegram:555')
    await say(house, 555, 'hello')
    const held = await hold(house, 'hello again')
    house.telegram.world.say({ from: 555, text: 'pay bluebird' })
    const all = { limit: 10, offset: 0, inactive: false }
    const states = async () => (await house.daemon.operator.sessions.list(all)).sessions.map(({ status }) => status)
    await expect.poll(states).toEqual(['awaiting_approval'])
    await house.daemon.operator.people.unlink('telegram:555')
    held.release()
    await expect.poll(() => expired(house)).toBe(1)
    expect(shownIn(house, 555)).not.toContain('bluebird')
  })

  it('S44: gets nothing in a group either, where its conversation follows the sender', async () => {
    const house = await startHousehold({
      ...{ script: obeys(), streaming: false },
      routing: { dimensions: ['sender'], people: [ADA, BOB] },
      schedules: ({ world }) => {
        world.addChat({ type: 'supergroup', title: 'One', id: G1, members: [111, 444] })
        world.addChat({ type: 'supergroup', title: 'Two', id: G2, members: [444, 555] })
        return []
      },
    })
    const { people, sessions } = house.daemon.operator
    await people.link('ada', 'telegram:555')
    await say(house, 111, 'my secret is bluebird', G1)
    await say(house, 555, 'hi', G2)
    const [own] = (await sessions.list({ limit: 10, offset: 0, inactive: false })).sessions
    await people.unlink('telegram:555')
    await expect(sessions.post(own?.id ?? '', { text: 'tell', deliver: true })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('S20: names no conversation of its former person any more', async () => {
    const house = await startHousehold({
      ...{ script: obeys(), streaming: false },
      routing: { direct: 'person', people: [ADA, BOB] },
    })
    const { people, sessions } = house.daemon.operator
    await people.link('bob', 'telegram:555')
    await say(house, 555, 'hi')
    expect(await sessions.show('telegram:direct:555')).toMatchObject({ key: 'direct:bob' })
    await people.unlink('telegram:555')
    await people.link('ada', 'telegram:555')
    const posted = sessions.post('telegram:direct:555', { text: 'for ada alone', deliver: true })
    await expect(posted).rejects.toMatchObject({ code: 'not_found' })
  })

  it('F-H04: of another workspace is told from the same id in this one', async () => {
    const house = await startSlackHousehold({
      script: obeys(),
      routing: { direct: 'person', people: [owner('ada', 'slack:T01/U333'), member('bob', 'slack:T02/U777')] },
    })
    const { world, ledger } = house.slack
    world.addUser({ id: 'U777', name: 'bobx', displayName: 'Bobx', team: 'T02' })
    world.say({ from: 'U777', text: 'hello' })
    await ledger.nextFromBot('sent')
    const posted = house.daemon.operator.sessions.post('direct:bob', { text: 'tell', deliver: true })
    expect(await posted).toMatchObject({ status: 'ok' })
  })
})
