import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type Household, startHousehold } from './household.ts'

async function tell(house: Household, text: string, from = 111, chat?: number): Promise<string> {
  const mark = house.telegram.ledger.mark()
  house.telegram.world.say({ from, text, ...(chat === undefined ? {} : { chat }) })
  return (await house.telegram.ledger.nextFromBot('sent', { after: mark })).text
}

const KEY = 'telegram:direct:111'
const spoken = (house: Household) =>
  house.telegram.world.messages(111, { by: 'bot' }).map(({ message }) => message.text)

describe('a text of the operator', () => {
  it('S44: is answered to the operator, is part of the conversation, and the chat hears nothing', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    const answer = await house.daemon.operator.sessions.post(KEY, { text: 'from the desk' })
    expect(answer).toMatchObject({ status: 'ok', reply: 'echo from the desk' })
    expect(spoken(house)).toEqual(['echo hello'])
    const { events, participants } = await house.daemon.operator.sessions.show(KEY)
    expect(events.filter(({ type }) => type === 'user_message').map(({ text }) => text)).toEqual([
      'Ada: hello',
      'operator: from the desk',
    ])
    expect(participants).toEqual(['telegram:111'])
  })

  it('S44: reaches the chat too when that is asked for', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    const mark = house.telegram.ledger.mark()
    const answer = await house.daemon.operator.sessions.post(KEY, { text: 'tell them', deliver: true })
    expect(answer).toMatchObject({ status: 'ok', reply: 'echo tell them' })
    expect((await house.telegram.ledger.nextFromBot('sent', { after: mark })).text).toBe('echo tell them')
  })

  it('S32: is put on record without a model call, and is context of the next answer', async () => {
    const house = await startHousehold({ script: () => textReply('done') })
    const { sessions } = house.daemon.operator
    await sessions.post('cli:desk', { text: 'hello' })
    expect(await sessions.post('cli:desk', { text: 'dinner is at seven', answer: false })).toMatchObject({
      status: 'stored',
    })
    expect(house.anthropic?.ledger.requests()).toHaveLength(1)
    const { events, messages } = await sessions.show('cli:desk')
    expect(events.at(-1)).toMatchObject({ type: 'user_message', text: 'operator: dinner is at seven' })
    expect(messages).toBe(3)
    await sessions.post('cli:desk', { text: 'when?' })
    expect(JSON.stringify(house.anthropic?.ledger.requests()[1]?.messages)).toContain('dinner is at seven')
  })

  it('S2, S44: cli:<name> is a conversation of its own, which goes on after a restart', async () => {
    const house = await startHousehold()
    const { sessions } = house.daemon.operator
    expect(await sessions.post('cli:desk', { text: 'one' })).toMatchObject({ session: 'cli:desk', reply: 'echo one' })
    await house.restart()
    await house.daemon.operator.sessions.post('cli:desk', { text: 'two' })
    expect(await house.daemon.operator.sessions.show('cli:desk')).toMatchObject({ turns: 2, source: { kind: 'cli' } })
    await expect(house.daemon.operator.sessions.post('cli:desk', { text: 'x', deliver: true })).rejects.toMatchObject({
      code: 'invalid',
    })
  })

  it('S48: the answer is stripped of markers, and silence is no text', async () => {
    const replies = ['before <NO_REPLY> after', '<NO_REPLY>']
    const house = await startHousehold({ script: () => textReply(replies.shift() ?? '') })
    const { sessions } = house.daemon.operator
    expect(await sessions.post('cli:desk', { text: 'a' })).toMatchObject({ status: 'ok', reply: 'before  after' })
    expect(await sessions.post('cli:desk', { text: 'b' })).toMatchObject({ status: 'ok', reply: '' })
  })

  it('T30, T31: to a denied session it is an error, and neither model nor chat sees it', async () => {
    const house = await startHousehold({ script: () => textReply('done') })
    await tell(house, 'hello')
    await house.daemon.operator.sessions.patch(KEY, { sendPolicy: 'deny' })
    const answer = await house.daemon.operator.sessions.post(KEY, { text: 'psst', deliver: true })
    expect(answer).toMatchObject({ status: 'error', error: expect.stringContaining('/send off') })
    expect(house.anthropic?.ledger.requests()).toHaveLength(1)
    expect(spoken(house)).toEqual(['done'])
  })

  it('T31: a session that is denied while its turn runs delivers nothing', async () => {
    const gate = createGate()
    const house = await startHousehold({ script: () => textReply('too late', { holds: [{ beforeDelta: 0, gate }] }) })
    const asked = house.telegram.world.say({ from: 111, text: 'work' })
    await gate.reached
    await house.daemon.operator.sessions.patch(KEY, { sendPolicy: 'deny' })
    const ended = house.anthropic?.ledger.nextEnded()
    gate.release()
    await ended
    expect(await tell(house, '/send inherit')).toContain('configuration')
    expect((await house.daemon.operator.why(String(asked.message_id)))[0]?.outcome).toBe('refused: send_policy')
    expect(spoken(house)).not.toContain('too late')
  })

  it.each([
    [{ text: '  ' }, 'invalid'],
    [{ text: 'x', waitSeconds: -1 }, 'invalid'],
  ])('S44: %j is refused before anything is stored', async (request, code) => {
    const house = await startHousehold()
    await house.daemon.operator.sessions.post('cli:desk', { text: 'hello' })
    await expect(house.daemon.operator.sessions.post('cli:desk', request)).rejects.toMatchObject({ code })
    expect((await house.daemon.operator.sessions.show('cli:desk')).messages).toBe(2)
  })

  it.each([[{ text: '  ' }], [{ text: 'x', waitSeconds: -1 }], [{ text: 'x', deliver: true }]])(
    'S44: %j to a name that is new leaves no session',
    async (request) => {
      const house = await startHousehold()
      const { sessions } = house.daemon.operator
      await expect(sessions.post('cli:desk', request)).rejects.toMatchObject({ code: 'invalid' })
      expect((await sessions.list({ limit: 1, offset: 0, inactive: true })).total).toBe(0)
      expect(await sessions.post('cli:desk', { text: 'now' })).toMatchObject({ session: 'cli:desk', reply: 'echo now' })
    },
  )

  it('T30: what the send policy refuses leaves no session, and the answer says why', async () => {
    const rules = [{ match: { channel: 'cli' }, action: 'deny' as const }]
    const house = await startHousehold({ routing: { sendPolicy: { rules, default: 'allow' } } })
    const { sessions } = house.daemon.operator
    expect(await sessions.post('cli:desk', { text: 'hello' })).toMatchObject({ status: 'error', session: 'cli:desk' })
    expect((await sessions.list({ limit: 1, offset: 0, inactive: true })).total).toBe(0)
  })

  it('S44: two first texts at once share the one session they begin', async () => {
    const house = await startHousehold()
    const { sessions } = house.daemon.operator
    const answers = await Promise.all(['one', 'two'].map((text) => sessions.post('cli:desk', { text })))
    expect(answers.map(({ session, status }) => [session, status])).toEqual([
      ['cli:desk', 'ok'],
      ['cli:desk', 'ok'],
    ])
    expect((await sessions.list({ limit: 9, offset: 0, inactive: true })).sessions.map(({ id }) => id)).toEqual([
      'cli:desk',
    ])
    expect(await sessions.show('cli:desk')).toMatchObject({
      source: { kind: 'cli', triggerType: 'message' },
      metadata: { channel: 'cli', chat_id: 'desk', chat_type: 'direct' },
      participants: [],
    })
  })

  it('S44: a session that is not there is not found', async () => {
    const house = await startHousehold()
    await expect(house.daemon.operator.sessions.post('nobody', { text: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('/send', () => {
  it('T27: the owner turns answers off and on, and each is confirmed', async () => {
    const house = await startHousehold()
    expect(await tell(house, '/send off')).toContain('I say nothing here until')
    const unheard = house.telegram.world.say({ from: 111, text: 'anybody?' })
    await house.telegram.ledger.confirmed(house.telegram.ledger.updateIdOf(unheard))
    expect(await tell(house, '/send')).toContain('Sending is off here. Say /send on')
    expect(await tell(house, '/send allow')).toContain('whatever the configuration says')
    // What was written meanwhile is context of the next prompt, as the owner was told.
    expect(await tell(house, 'and now?')).toBe('echo anybody?\nand now?')
    expect(await tell(house, '/send reset')).toContain('follow the configuration')
  })

  it('T28: words that are no mode get the usage, change nothing and reach no model', async () => {
    const house = await startHousehold({ script: () => textReply('answered') })
    await tell(house, '/send off')
    for (const words of ['maybe', 'on please', 'this to Bob: hello', 'offf']) {
      expect(await tell(house, `/send ${words}`)).toBe(
        'Say /send on, /send off, or /send inherit to follow the configuration again.',
      )
    }
    expect(await tell(house, '/send')).toContain('Sending is off here.')
    expect(house.anthropic?.ledger.requests()).toEqual([])
  })

  it('T26, T27: on beats a rule that denies, inherit gives it back', async () => {
    const sendPolicy = {
      rules: [{ match: { channel: 'telegram' }, action: 'deny' as const }],
      default: 'allow' as const,
    }
    const house = await startHousehold({ routing: { sendPolicy } })
    expect(await tell(house, '/send on')).toContain('I answer here')
    expect(await tell(house, 'hello')).toBe('echo hello')
    expect(await tell(house, '/send inherit')).toContain('configuration')
    const denied = house.telegram.world.say({ from: 111, text: 'hello?' })
    await house.telegram.ledger.confirmed(house.telegram.ledger.updateIdOf(denied))
    expect((await house.daemon.operator.why(String(denied.message_id)))[0]).toMatchObject({ reason: 'send_policy' })
  })

  it('T27: by others nothing happens, and a line says who may', async () => {
    const house = await startHousehold({ routing: { access: { direct: 'public', groups: [] } } })
    expect(await tell(house, '/send off', 444)).toBe('/send is for my owner alone.')
    expect(await tell(house, 'hello', 444)).toBe('echo hello')
    expect(await house.daemon.operator.sessions.show('telegram:direct:444')).not.toHaveProperty('sendPolicy')
    expect(house.telegram.world.messages(444, { by: 'bot' })).toHaveLength(2)
  })

  it('T28: plain text that begins with "send" is no command', async () => {
    const house = await startHousehold()
    expect(await tell(house, 'send off the parcel')).toBe('echo send off the parcel')
    expect(await tell(house, 'send off')).toBe('echo send off')
  })

  it('T27: what is no mode is answered with the usage', async () => {
    const house = await startHousehold()
    expect(await tell(house, '/send maybe')).toContain('Say /send on, /send off')
    expect((await house.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: true })).total).toBe(0)
  })
})
