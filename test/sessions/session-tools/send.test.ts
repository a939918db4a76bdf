import { describe, expect, it } from 'vitest'
import type { Identity } from '../../../src/core/dispatch.ts'
import { toPersonId } from '../../../src/core/ids.ts'
import type { HistoryMessage, SessionCaller } from '../../../src/core/session-tools.ts'
import { dispatchOf, group, message, user } from '../../fakes/dispatch.ts'
import { owner } from '../../fakes/routing-policy.ts'
import { CLIENT, never, openRig, type Rig, turnIn } from './rig.ts'

const ADA = 'telegram:direct:111'
const BOB = 'telegram:direct:444'

/** Bob's session answers what it is told; what it is told to hold, fail or hush it does. */
const SCRIPT = `
rules:
  - when: { contains: 'ask bob' }
    steps:
      - calls: [{ tool: sessions_send, args: { sessionKey: '${BOB}', message: 'are you there', timeoutSeconds: 20 } }]
      - text: 'told: {{result}}'
  - when: { contains: 'hold on' }
    steps: [{ calls: [{ tool: hold }] }, { text: 'at last' }]
  - when: { contains: broken }
    steps: [{ fail: model_overloaded }]
  - when: { contains: hush }
    steps: [{ silence: true }]
  - when: { contains: muffled }
    steps: [{ text: 'half said <NO_REPLY>' }]
  - steps: [{ text: 'heard: {{user}}' }]
`

async function withBob(options: Partial<Parameters<typeof openRig>[0]> = {}): Promise<Rig> {
  const rig = await openRig({ script: SCRIPT, ...options })
  await rig.ask('444', 'hello')
  return rig
}

const shown = async (rig: Rig): Promise<readonly HistoryMessage[]> =>
  (await rig.tools.history({ sessionKey: BOB }, CLIENT)).messages

describe('sessions_send', () => {
  it('T16, T21: with a wait it answers ok and the reply of that run, not of an earlier one', async () => {
    const rig = await withBob()
    const first = await rig.send({ sessionKey: BOB, message: 'one' })
    const second = await rig.send({ sessionKey: BOB, message: 'two' })
    expect(first).toMatchObject({ status: 'ok', sessionKey: BOB, reply: 'heard: one' })
    expect(second).toMatchObject({ status: 'ok', reply: 'heard: two' })
  })

  it('T16: the tool of a turn gets the answer too, as the person of the turn', async () => {
    const rig = await withBob()
    await rig.ask('111', 'ask bob')
    expect(await rig.results(ADA)).toEqual([
      expect.objectContaining({ status: 'ok', sessionKey: BOB, reply: expect.stringContaining('are you there') }),
    ])
  })

  it('T11: the row names the model that a session was set to instead of its own', async () => {
    const rig = await withBob()
    const { id } = await rig.named(BOB)
    const model = async () => (await rig.tools.list({}, CLIENT)).find(({ sessionId }) => sessionId === id)?.model
    const own = await model()
    expect(own).toBe('scripted/script.yaml')
    await rig.store.write((tx) => tx.sessions.patchOverrides(id, { set: { model: 'scripted/echo' }, inherit: [] }))
    const again = await rig.reopen()
    const row = async () => (await again.tools.list({}, CLIENT)).find(({ sessionId }) => sessionId === id)
    expect(await row()).toMatchObject({ model: 'scripted/echo' })
  })

  it('T15: with 0 it answers accepted at once, and the run happens', async () => {
    const rig = await withBob()
    const ended = rig.engine.running.nextEnd((await rig.named(BOB)).id)
    expect(await rig.send({ sessionKey: BOB, message: 'later', timeoutSeconds: 0 })).toMatchObject({
      status: 'accepted',
    })
    await ended
    expect((await shown(rig)).at(-1)).toMatchObject({ role: 'assistant', text: 'heard: later' })
  })

  it.each([-5, 0.9])('T15: %s seconds are no wait', async (timeoutSeconds) => {
    const rig = await withBob()
    expect(await rig.send({ sessionKey: BOB, message: 'hold on', timeoutSeconds })).toMatchObject({
      status: 'accepted',
    })
  })

  it('T15: a wait of 0 for a run that goes on answers accepted, for one that has ended its answer', async () => {
    const rig = await withBob()
    const { id } = await rig.named(BOB)
    const request = { sessionKey: BOB, message: 'hold on', timeoutSeconds: 0, requestId: 'r1' }
    const { runId } = await rig.send(request)
    const again = () => rig.tools.wait({ runId, timeoutSeconds: 0 }, CLIENT, never())
    expect(await again()).toMatchObject({ status: 'accepted', runId })
    expect(await rig.send(request)).toMatchObject({ status: 'accepted', runId })
    const ended = rig.engine.running.nextEnd(id)
    rig.hold.open.resolve()
    await ended
    expect(await again()).toMatchObject({ status: 'ok', runId, reply: 'at last' })
    expect(await rig.send(request)).toMatchObject({ status: 'ok', runId, reply: 'at last' })
    expect((await shown(rig)).filter(({ text }) => text === 'hold on')).toHaveLength(1)
  })

  it('T15: a wait of 0 for a run that failed or said nothing tells so', async () => {
    const rig = await withBob()
    for (const [message, answer] of [
      ['broken', { status: 'error' }],
      ['hush', { status: 'ok', reply: '' }],
    ] as const) {
      const { runId } = await rig.send({ sessionKey: BOB, message, timeoutSeconds: 20 })
      expect(await rig.tools.wait({ runId, timeoutSeconds: 0 }, CLIENT, never())).toMatchObject(answer)
    }
  })

  it('T17: a wait that runs out answers timeout, and the run still finishes and is in the history', async () => {
    const rig = await withBob()
    const { id } = await rig.named(BOB)
    const answer = await rig.send({ sessionKey: BOB, message: 'hold on', timeoutSeconds: 1 })
    expect(answer).toMatchObject({ status: 'timeout' })
    const ended = rig.engine.running.nextEnd(id)
    rig.hold.open.resolve()
    await ended
    expect((await shown(rig)).at(-1)).toMatchObject({ role: 'assistant', text: 'at last' })
  })

  it('T18: a failing run answers error with the calm message, and the chat hears nothing of it', async () => {
    const rig = await withBob()
    const answer = await rig.send({ sessionKey: BOB, message: 'broken' })
    expect(answer).toMatchObject({
      status: 'error',
      error: expect.stringContaining('My language model is overloaded right now'),
    })
    expect(rig.channel.visible(BOB)).toEqual(['heard: hello'])
  })

  it('T18: a run that was stopped answers error', async () => {
    const rig = await withBob()
    const { id } = await rig.named(BOB)
    const answer = rig.send({ sessionKey: BOB, message: 'hold on' })
    await rig.hold.reached.promise
    await rig.engine.running.abort(id)
    expect(await answer).toMatchObject({ status: 'error', error: expect.stringContaining('stopped') })
  })

  it('T19: every answer has a run id, the same for the same request', async () => {
    const rig = await withBob()
    const answers = [
      await rig.send({ sessionKey: BOB, message: 'one', requestId: 'r1' }),
      await rig.send({ sessionKey: BOB, message: 'one', requestId: 'r1' }),
      await rig.send({ sessionKey: BOB, message: 'later', timeoutSeconds: 0 }),
      await rig.send({ sessionKey: 'nowhere', message: 'one' }),
      await rig.send({ sessionKey: BOB, message: 'broken' }),
    ]
    expect(answers.map(({ runId }) => /^run_[0-9a-z]{26}$/.test(runId))).toEqual(answers.map(() => true))
    expect(answers[1]).toEqual(answers[0])
    expect((await shown(rig)).filter(({ text }) => text === 'one')).toHaveLength(1)
  })

  it('T20: a wait is taken up again by its run id, after the client left and after a restart', async () => {
    const before = await withBob()
    const left = new AbortController()
    const leaving = before.tools.send({ sessionKey: BOB, message: 'hold on', requestId: 'r1' }, CLIENT, left.signal)
    await before.hold.reached.promise
    left.abort()
    const { runId, status } = await leaving
    expect(status).toBe('timeout')
    const after = await before.reopen()
    after.hold.open.resolve()
    await after.engine.recover()
    const answer = await after.tools.wait({ runId }, CLIENT, never())
    expect(answer).toMatchObject({ runId, status: 'ok', reply: 'at last' })
  })

  it('T20: a turn that waits when the daemon stops waits on after the start, and is told the answer', async () => {
    const script = SCRIPT.replace("message: 'are you there'", "message: 'hold on'")
    const before = await withBob({ script })
    await before.say('111', 'ask bob')
    await before.hold.reached.promise
    const after = await before.reopen()
    after.hold.open.resolve()
    await after.engine.recover()
    expect((await after.sent('111', 1))[0]).toContain('at last')
    expect(await after.results(ADA)).toMatchObject([{ status: 'ok', reply: 'at last' }])
    expect((await shown(after)).filter(({ text }) => text === 'hold on')).toHaveLength(1)
  })

  it('T20: a run is waited for by whoever asked for it, and for nobody else it is not there', async () => {
    const rig = await withBob()
    const { runId } = await rig.send({ sessionKey: BOB, message: 'one' })
    const bob: SessionCaller = { principal: { role: 'member', person: toPersonId('bob') } }
    const wait = (caller: SessionCaller, name: string = runId) =>
      rig.tools.wait({ runId: name, timeoutSeconds: 0 }, caller, never())
    await expect(wait(bob)).rejects.toMatchObject({ code: 'not_found', message: `There is no run ${runId}.` })
    await expect(wait(await turnIn(rig.store, await rig.named(BOB)))).rejects.toMatchObject({ code: 'not_found' })
    await expect(wait(CLIENT, 'run_0')).rejects.toMatchObject({ code: 'not_found' })
    expect(await wait(CLIENT)).toMatchObject({ status: 'ok', reply: 'heard: one' })
  })

  it.each(['send', 'wait'] as const)(
    'S19: who may no longer read when the answer is there is not told it: %s',
    async (how) => {
      let bob: Identity = { person: toPersonId('bob'), role: 'owner' }
      const rig = await withBob({
        routing: { people: [owner('ada', 'telegram:111')], access: { direct: 'public', groups: [] } },
        facts: { personOf: (_channel, id) => (id === '444' ? bob : undefined) },
      })
      await rig.ask('111', 'hello')
      const caller = await turnIn(rig.store, await rig.named(BOB), '444')
      const request = { sessionKey: ADA, message: 'hold on', timeoutSeconds: how === 'send' ? 20 : 0 }
      const sent = rig.send(request, caller)
      const answer =
        how === 'send' ? sent : rig.tools.wait({ runId: (await sent).runId, timeoutSeconds: 20 }, caller, never())
      await rig.hold.reached.promise
      bob = { role: 'guest' }
      rig.hold.open.resolve()
      expect(await answer).toMatchObject({ status: 'accepted' })
      expect(await answer).not.toHaveProperty('reply')
    },
  )

  it('S44: the answer goes to whoever asked and not to the chat, where nothing is shown either', async () => {
    const rig = await withBob()
    await rig.send({ sessionKey: BOB, message: 'one' })
    expect(rig.channel.visible(BOB)).toEqual(['heard: hello'])
    expect(await rig.ask('444', 'and me')).toBe('heard: and me')
  })

  it('S44: on request it is posted in the chat too, once', async () => {
    const rig = await withBob()
    const answer = await rig.send({ sessionKey: BOB, message: 'one', announce: true })
    expect(answer).toMatchObject({ status: 'ok', reply: 'heard: one' })
    expect(await rig.sent('444', 2)).toEqual(['heard: hello', 'heard: one'])
  })

  it('S44: where a session joins chats it is posted in the last one as it is, not in a topic of another', async () => {
    const rig = await openRig({ script: SCRIPT, routing: { dimensions: [] } })
    const forum = group('-100', { topic: '7', space: { type: 'guild', id: 'S1' } })
    const first = message({ address: forum, sender: user('111'), text: 'here', mentioned: true })
    await rig.engine.accept(dispatchOf(first, { receivedAt: Date.now() }))
    await rig.channel.called(1)
    await rig.ask('111', 'and now here')
    const { id, metadata } = await rig.named('telegram')
    expect(metadata).toEqual({
      ...{ channel: 'telegram', account: 'default' },
      ...{ chat_id: '111', chat_type: 'direct', sender_id: '111' },
    })
    await rig.send({ sessionKey: id, message: 'one', announce: true })
    await rig.channel.called(3)
    expect(rig.channel.calls.map(({ to }) => to)).toEqual(['telegram:group:-100/7', ADA, ADA])
  })

  it('S48: the answer is stripped of markers; one that is only a marker is empty', async () => {
    const rig = await withBob()
    expect(await rig.send({ sessionKey: BOB, message: 'muffled' })).toMatchObject({ status: 'ok', reply: 'half said' })
    expect(await rig.send({ sessionKey: BOB, message: 'hush' })).toMatchObject({ status: 'ok', reply: '' })
    expect((await shown(rig)).some(({ text }) => text.includes('NO_REPLY'))).toBe(false)
  })

  it('an empty message is refused', async () => {
    const rig = await withBob()
    await expect(rig.send({ sessionKey: BOB, message: ' ' })).rejects.toMatchObject({ code: 'invalid' })
  })
})
