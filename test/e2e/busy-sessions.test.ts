import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { slowStart } from './slow-start.ts'

describe('a busy session', () => {
  it('R32: takes messages up to its bound, refuses the rest and says so once', async () => {
    const { gate, script } = slowStart()
    const { telegram, daemon } = await startHousehold({
      script,
      config: { session: { queue: { max: 2, busy: 'queue' } } },
    })
    telegram.world.say({ from: 111, text: 'slow' })
    await gate.reached
    const said = ['one', 'two', 'three', 'four'].map((text) => telegram.world.say({ from: 111, text }))
    expect((await telegram.ledger.nextFromBot('sent')).text).toContain('more messages waiting')
    for (const message of said) await telegram.ledger.confirmed(telegram.ledger.updateIdOf(message))
    gate.release()
    await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'heard one\ntwo' })
    const outcomes = await Promise.all(
      said.map(async ({ message_id }) => (await daemon.operator.why(String(message_id)))[0]?.outcome),
    )
    expect(outcomes).toEqual(['answered', 'answered', 'refused: queue_full', 'refused: queue_full'])
    const told = telegram.world
      .messages(111, { by: 'bot' })
      .filter(({ message }) => message.text?.includes('more messages waiting'))
    expect(told).toHaveLength(1)
  })

  it('/stop ends the running turn and what waits behind it, without standing in the queue itself', async () => {
    const { gate, script } = slowStart()
    const { telegram, daemon } = await startHousehold({ script })
    const slow = telegram.world.say({ from: 111, text: 'slow' })
    await gate.reached
    const waiting = telegram.world.say({ from: 111, text: 'and this' })
    await telegram.ledger.confirmed(telegram.ledger.updateIdOf(waiting))
    telegram.world.say({ from: 111, text: '/stop' })
    expect((await telegram.ledger.nextFromBot('sent')).text).toBe('Stopped, and 1 waiting message with it.')
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 111, text: 'still there?' })
    expect((await telegram.ledger.nextFromBot('sent', { after: mark })).text).toBe('heard still there?')
    for (const { message_id } of [slow, waiting]) {
      expect(await daemon.operator.why(String(message_id))).toMatchObject([{ outcome: 'cancelled' }])
    }
  })

  it('C17: a stopped turn emits cancelled and no completed', async () => {
    const { gate, script } = slowStart()
    const { telegram, daemon } = await startHousehold({ script })
    telegram.world.say({ from: 111, text: 'slow' })
    await gate.reached
    telegram.world.say({ from: 111, text: '/stop' })
    await telegram.ledger.nextFromBot('sent')
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 111, text: 'next' })
    await telegram.ledger.nextFromBot('sent', { after: mark })
    const { events } = await daemon.operator.sessions.show('telegram:direct:111')
    expect(events.filter(({ type }) => type.startsWith('session:turn_')).map(({ type }) => type)).toEqual([
      'session:turn_started',
      'session:turn_cancelled',
      'session:turn_started',
      'session:turn_completed',
    ])
  })

  it('interrupt: a new message ends the running turn and is answered next', async () => {
    const { gate, script } = slowStart()
    const { telegram } = await startHousehold({ script, config: { session: { queue: { max: 9, busy: 'interrupt' } } } })
    telegram.world.say({ from: 111, text: 'slow' })
    await gate.reached
    telegram.world.say({ from: 111, text: 'no, this' })
    expect((await telegram.ledger.nextFromBot('sent')).text).toBe('heard no, this')
  })

  it('steer: a message said between two steps joins the running turn', async () => {
    const gate = createGate()
    const script: Script = (request) => {
      const texts = request.messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content))
      if (texts.length === 1) {
        const clock = { type: 'tool_use', name: 'current_time', input: {} } as const
        return { blocks: [clock], holds: [{ beforeDelta: 0, gate }] }
      }
      return textReply(`saw ${texts.at(-1)?.includes('only this year')}`)
    }
    const home = await startHousehold({
      streaming: false,
      script,
      config: { session: { queue: { max: 9, busy: 'steer' } } },
    })
    const { telegram, anthropic, daemon } = home
    telegram.world.say({ from: 111, text: 'search' })
    await gate.reached
    const steering = telegram.world.say({ from: 111, text: 'only this year' })
    await telegram.ledger.confirmed(telegram.ledger.updateIdOf(steering))
    gate.release()
    expect((await telegram.ledger.nextFromBot('sent')).text).toBe('saw true')
    expect(anthropic?.ledger.requests()).toHaveLength(2)
    const { turns } = await daemon.operator.sessions.show('telegram:direct:111')
    expect(turns).toBe(1)
    for (const text of ['and now?', 'after a start?']) {
      const after = telegram.ledger.mark()
      telegram.world.say({ from: 111, text })
      await telegram.ledger.nextFromBot('sent', { after })
      const shown = JSON.stringify(anthropic?.ledger.requests().at(-1)?.messages)
      expect(shown.split('only this year')).toHaveLength(2)
      await home.restart()
    }
  })

  it('K47: steer: what waits for a turn joins it after a start by the scope of its session, and no other turn', async () => {
    const pay: Tool = {
      spec: { name: 'pay', description: 'Pays.', parameters: { type: 'object' } },
      ...{ class: 'once', reach: 'beyond', run: async () => 'paid' },
    }
    const script: Script = (request) => {
      const asked = lastUserText(request)
      if (asked.endsWith('pay') && toolResult(request) === undefined)
        return { blocks: [{ type: 'tool_use', name: 'pay', input: {} }] }
      return textReply(`heard ${asked.split('\n').at(-1)}`)
    }
    const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['pay'] }]
    const home = await startHousehold({
      ...{ script, streaming: false, tools: { pay: [pay] } },
      config: { agents, session: { queue: { max: 9, busy: 'steer' } } },
    })
    const { world, ledger } = home.telegram
    const sentTo = (chat: number, after = 0) =>
      ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
    world.say({ from: 111, text: 'pay' })
    const code = /\/approve (\w+)/.exec((await sentTo(111)).text)?.[1]
    const joining = world.say({ from: 111, text: 'only this year' })
    await ledger.confirmed(ledger.updateIdOf(joining))
    await home.restart()
    world.say({ from: 444, text: 'another chat' })
    expect((await sentTo(444)).text).toBe('heard another chat')
    const after = ledger.mark()
    world.say({ from: 111, text: `/approve ${code}` })
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'heard only this year' })
    const [ada] = (await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).sessions.filter(
      ({ key }) => key === 'telegram:direct:111',
    )
    const { turns, scope } = await home.daemon.operator.sessions.show(ada?.id ?? '')
    expect([turns, scope]).toMatchObject([1, { channel: 'telegram', values: { chat: 'direct:111' } }])
    expect(JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('another chat')
  })
})
