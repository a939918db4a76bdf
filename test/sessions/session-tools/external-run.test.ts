import { describe, expect, it } from 'vitest'
import type { ExternalOrigin } from '../../../src/core/external-run.ts'
import { toPersonId } from '../../../src/core/ids.ts'
import type { SendAnswer, SessionCaller } from '../../../src/core/session-tools.ts'
import { CLIENT, never, openRig, type Rig } from './rig.ts'

const SCRIPT = "rules: [{ steps: [{ text: 'heard {{user}}' }] }]"
const UUID = '2f1c0a52-3a64-4c8e-9a0d-6f1a2b3c4d5e'
const HOOK: ExternalOrigin = { kind: 'hook', name: 'build', id: UUID }
const NODE: ExternalOrigin = { kind: 'node', id: 'kitchen' }

interface Call {
  readonly requestId?: string
  readonly sessionKey?: string
  readonly caller?: SessionCaller
}

function runFor(
  rig: Rig,
  origin: ExternalOrigin,
  message: string,
  { caller = CLIENT, ...more }: Call = {},
): Promise<SendAnswer> {
  return rig.engine.externalRuns.start({ origin, message, requestId: crypto.randomUUID(), ...more }, caller, never())
}

describe('what comes from no chat', () => {
  it('T34: a hook opens hook:<uuid>, of kind hook, which answers its call', async () => {
    const rig = await openRig({ script: SCRIPT })
    expect(await runFor(rig, HOOK, 'it is red')).toMatchObject({
      status: 'ok',
      sessionKey: `hook:${UUID}`,
      reply: 'heard [message from hook build]\n> it is red',
    })
    expect(await rig.named(`hook:${UUID}`)).toMatchObject({
      id: `hook:${UUID}`,
      kind: 'hook',
      source: { kind: 'hook', interactive: false, triggerId: UUID },
      metadata: { hook: 'build' },
    })
  })

  it('T34: what a hook brings is data, whoever’s authority it has', async () => {
    const rig = await openRig({ script: SCRIPT })
    const ada: SessionCaller = { principal: { role: 'owner', person: toPersonId('ada') } }
    const { runId } = await runFor(rig, HOOK, 'run it', { caller: ada })
    const [row] = await rig.store.read.inbox.find(runId)
    expect(row).toMatchObject({ dispatch: { origin: 'hook' }, decision: { identity: { role: 'owner' } } })
    const { id } = await rig.named(`hook:${UUID}`)
    const said = (await rig.store.read.events.latest(id, 20)).find(({ type }) => type === 'user_message')
    expect(said?.data).toMatchObject({
      from: { hook: 'build' },
      owner: false,
      sender: { id: 'hook:build', kind: 'bot' },
    })
    expect(await rig.store.read.participants.of(id)).toEqual([])
  })

  it('T34: a node has one session, node-<id>, whenever it comes', async () => {
    const rig = await openRig({ script: SCRIPT })
    await runFor(rig, NODE, 'one')
    expect(await runFor(rig, NODE, 'two')).toMatchObject({ sessionKey: 'node-kitchen', reply: 'heard two' })
    expect(await rig.named('node-kitchen')).toMatchObject({
      kind: 'node',
      messageCount: 4,
      source: { interactive: true },
    })
    expect((await rig.tools.list({}, CLIENT)).map(({ key, provider }) => [key, provider])).toEqual([
      ['node-kitchen', 'internal'],
    ])
  })

  it('T34: a session that is named and allowed takes it instead; another is not found, and none is opened', async () => {
    const rig = await openRig({ script: SCRIPT })
    await rig.ask('444', 'hello')
    const sessionKey = 'telegram:direct:444'
    expect(await runFor(rig, HOOK, 'hi', { sessionKey })).toMatchObject({ status: 'ok', sessionKey })
    const stranger: SessionCaller = { principal: { role: 'guest' } }
    expect(await runFor(rig, HOOK, 'hi', { sessionKey, caller: stranger })).toMatchObject({
      status: 'error',
      error: 'There is no session telegram:direct:444.',
    })
    await expect(rig.named(`hook:${UUID}`)).rejects.toThrow('There is no session')
  })

  it('the same call again is the same run, in the same session', async () => {
    const rig = await openRig({ script: SCRIPT })
    const first = await runFor(rig, HOOK, 'once', { requestId: 'r1' })
    expect(await runFor(rig, HOOK, 'once', { requestId: 'r1' })).toEqual(first)
    expect(await rig.named(`hook:${UUID}`)).toMatchObject({ messageCount: 2 })
  })

  it('there is nothing to post in: an answer cannot be announced there', async () => {
    const rig = await openRig({ script: SCRIPT })
    await runFor(rig, NODE, 'one')
    expect(await rig.send({ sessionKey: 'node-kitchen', message: 'hi', announce: true })).toMatchObject({
      status: 'error',
      error: expect.stringContaining('no chat'),
    })
  })

  it.each<ExternalOrigin>([
    { kind: 'hook', name: 'build', id: 'x' },
    { kind: 'node', id: 'Kitchen' },
    { kind: 'node', id: '../x' },
  ])('an id of another form is refused: %j', async (origin) => {
    const rig = await openRig({ script: SCRIPT })
    await expect(runFor(rig, origin, 'hi')).rejects.toMatchObject({ code: 'invalid' })
    await expect(runFor(rig, NODE, ' ')).rejects.toMatchObject({ code: 'invalid' })
  })
})
