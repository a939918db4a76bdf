import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

async function tell(house: Household, text: string, from = 111): Promise<string> {
  const mark = house.telegram.ledger.mark()
  house.telegram.world.say({ from, text })
  return (await house.telegram.ledger.nextFromBot('sent', { after: mark })).text
}

const listed = (house: Household, inactive = false) =>
  house.daemon.operator.sessions.list({ limit: 50, offset: 0, inactive })

describe('sessions', () => {
  it('S3: a new session is called after its platform, the date and a random part', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    const { sessions } = await listed(house)
    expect(sessions[0]?.id).toMatch(/^telegram:\d{4}-\d\d-\d\d-[0-9a-f]{8}$/)
  })

  it('S1, S4: it keeps where it came from and the ids of its chat', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    const session = await house.daemon.operator.sessions.show('telegram:direct:111')
    expect(session).toMatchObject({
      source: {
        kind: 'channel',
        interactive: true,
        platform: 'telegram',
        triggerId: 'telegram:direct:111',
        triggerType: 'message',
      },
      metadata: { chat_id: '111', chat_type: 'direct' },
    })
  })

  it('S5: after a restart the same chat finds its session again', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    const [before] = (await listed(house)).sessions
    await house.restart()
    await tell(house, 'hello again')
    const after = await listed(house)
    expect(after.total).toBe(1)
    expect(after.sessions[0]).toMatchObject({ id: before?.id, messages: 4, turns: 2 })
  })

  it('S6: a session is running during a turn and idle after it', async () => {
    const gate = createGate()
    const script: Script = () => textReply('done', { holds: [{ beforeDelta: 0, gate }] })
    // A streamed answer can be seen before its turn has ended.
    const house = await startHousehold({ script, streaming: false })
    house.telegram.world.say({ from: 111, text: 'work' })
    await gate.reached
    expect((await listed(house)).sessions[0]?.status).toBe('running')
    gate.release()
    await house.telegram.ledger.nextFromBot('sent')
    expect((await listed(house)).sessions[0]?.status).toBe('idle')
  })

  it('S10: /new makes the old session inactive, and the next message begins another', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    const [old] = (await listed(house)).sessions
    expect(await tell(house, '/new')).toContain('fresh')
    await tell(house, 'hello, who are you?')
    const [current] = (await listed(house)).sessions
    expect(current?.id).not.toBe(old?.id)
    const all = await listed(house, true)
    expect(all.sessions.find(({ id }) => id === old?.id)?.status).toBe('inactive')
  })

  it('S13, S14: the row counts messages and turns and is described by the first message', async () => {
    const house = await startHousehold()
    await tell(house, 'what is the plan for the weekend?')
    await tell(house, 'and then?')
    const [session] = (await listed(house)).sessions
    expect(session).toMatchObject({
      messages: 4,
      turns: 2,
      description: 'what is the plan for the weekend?',
      preview: 'echo and then?',
    })
  })

  it('S13: the row shows when it began and when it was last active, also after a restart', async () => {
    const clock = setClock('2026-11-21T12:00Z')
    const house = await startHousehold({ clock })
    await tell(house, 'hello')
    await recorded(house)
    clock.skip(3_600_000)
    await house.restart()
    await tell(house, 'and then?')
    const [session] = (await listed(house)).sessions
    const { events } = await house.daemon.operator.sessions.show(session?.id ?? '')
    expect([session?.createdAt, session?.updatedAt]).toEqual([events[0]?.at, events.at(-1)?.at])
    expect((session?.updatedAt ?? 0) - (session?.createdAt ?? 0)).toBeGreaterThanOrEqual(3_600_000)
    expect(session).toMatchObject({ messages: 4, turns: 2, preview: 'echo and then?' })
  })

  it('S15: every message and turn end is in the log, in order, after a restart too', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    await house.restart()
    const { events } = await house.daemon.operator.sessions.show('telegram:direct:111')
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'session:started'],
      [2, 'user_message'],
      [3, 'session:turn_started'],
      [4, 'assistant_message'],
      [5, 'session:turn_completed'],
    ])
  })

  it('S23: the raw text is stored before the model is called', async () => {
    const gate = createGate()
    const script: Script = () => textReply('done', { holds: [{ beforeDelta: 0, gate }] })
    const house = await startHousehold({ script })
    house.telegram.world.say({ from: 111, text: '  raw  text ' })
    await gate.reached
    const { events } = await house.daemon.operator.sessions.show('telegram:direct:111')
    expect(events.find(({ type }) => type === 'user_message')?.text).toBe('Ada:   raw  text ')
    gate.release()
    await house.telegram.ledger.nextFromBot('sent')
  })

  it('S33: turns of one session run one after another, sessions run side by side', async () => {
    const gate = createGate()
    const script: Script = (request) => {
      const text = lastUserText(request)
      return textReply(`heard ${text}`, text === 'slow' ? { holds: [{ beforeDelta: 0, gate }] } : {})
    }
    const house = await startHousehold({ script, routing: { access: { direct: 'public', groups: [] } } })
    house.telegram.world.say({ from: 111, text: 'slow' })
    await gate.reached
    house.telegram.world.say({ from: 111, text: 'next' })
    expect(await tell(house, 'other chat', 444)).toBe('heard other chat')
    expect(house.anthropic?.ledger.requests()).toHaveLength(2)
    gate.release()
    const order = await house.telegram.ledger.collect(
      2,
      (entry) => entry.kind === 'message' && entry.botId !== null && entry.chatId === 111,
    )
    expect(order.map((entry) => entry.kind === 'message' && entry.text)).toEqual(['heard slow', 'heard next'])
  })

  it('C4: messages that waited behind a turn are answered together, each by exactly one turn', async () => {
    const gate = createGate()
    const script: Script = (request) => {
      const text = lastUserText(request)
      return textReply(`heard ${text}`, text === 'slow' ? { holds: [{ beforeDelta: 0, gate }] } : {})
    }
    const house = await startHousehold({ script })
    house.telegram.world.say({ from: 111, text: 'slow' })
    await gate.reached
    const waiting = ['one', 'two'].map((text) => house.telegram.world.say({ from: 111, text }))
    for (const message of waiting) await house.telegram.ledger.confirmed(house.telegram.ledger.updateIdOf(message))
    gate.release()
    await house.telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'heard one\ntwo' })
    const turns = await Promise.all(
      waiting.map(async ({ message_id }) => (await house.daemon.operator.why(String(message_id)))[0]?.turn),
    )
    expect(new Set(turns).size).toBe(1)
  })
})
