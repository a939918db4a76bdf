import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../../src/core/ids.ts'
import { owner } from '../../fakes/routing-policy.ts'
import { CLIENT, openRig, type Rig, type RigOptions, turnIn } from './rig.ts'

const SCRIPT = "rules: [{ steps: [{ text: 'heard {{user}}' }] }]"

/** All direct chats are one session; Cy's (555) are another agent's. */
async function household(routing: RigOptions['routing'] = {}): Promise<Rig> {
  const rig = await openRig({
    script: SCRIPT,
    routing: {
      scope: 'global',
      access: { direct: 'public', groups: [] },
      dispatch: [{ match: { sender: '555' }, agent: 'second' }],
      ...routing,
    },
  })
  await rig.ask('111', 'hello')
  return rig
}

describe('the name main', () => {
  it('T2, T6: is the main session of the asking agent, however it is written', async () => {
    const rig = await household()
    const own = await rig.named('main')
    const caller = await turnIn(rig.store, own)
    for (const sessionKey of ['main', ' MAIN ']) {
      expect(await rig.tools.history({ sessionKey }, caller)).toMatchObject({
        sessionKey: 'main',
        sessionId: own.id,
      })
    }
    expect(await rig.send({ sessionKey: 'main', message: 'hi' }, CLIENT)).toMatchObject({
      sessionKey: 'main',
      status: 'ok',
    })
  })

  it('T2: of another agent is that one’s own, and none before it has one', async () => {
    const people = [owner('ada', 'telegram:111'), owner('dan', 'telegram:555')]
    const rig = await household({ scope: 'routed', direct: 'main', people })
    const own = await rig.named('main')
    const second = await turnIn(rig.store, { ...own, agentId: toAgentId('second') })
    const missing = rig.tools.history({ sessionKey: 'main' }, second)
    await expect(missing).rejects.toMatchObject({ code: 'not_found' })
    await rig.ask('555', 'hello')
    const other = await rig.named('agent:second:main')
    expect(await rig.tools.history({ sessionKey: 'main' }, await turnIn(rig.store, other, '555'))).toMatchObject({
      sessionKey: 'main',
      sessionId: other.id,
    })
  })

  it('T35: with global scope groups keep their own sessions and direct chats share one', async () => {
    const rig = await household()
    await rig.ask('444', 'and me')
    expect((await rig.tools.list({}, CLIENT)).map(({ key }) => key)).toEqual(['main'])
    const { messages } = await rig.tools.history({ sessionKey: 'main' }, CLIENT)
    expect(messages.map(({ text }) => text)).toEqual(['hello', 'heard hello', 'and me', 'heard and me'])
  })
})

describe('a session that is gone', () => {
  it('C32: between the naming and the storing is an error, and nothing is stored', async () => {
    const rig = await household()
    const { id } = await rig.named('main')
    const sending = rig.tools.send(
      { sessionKey: 'main', message: 'hi', requestId: 'r' },
      CLIENT,
      new AbortController().signal,
    )
    await rig.store.write((tx) => tx.sessions.remove(id, 1))
    expect(await sending).toMatchObject({ status: 'error', error: expect.stringContaining('There is no session') })
    expect((await rig.store.read.inbox.recent(5)).filter(({ dispatch }) => dispatch.posted)).toEqual([])
  })
})
