import { describe, expect, it } from 'vitest'
import { owner } from '../../fakes/routing-policy.ts'
import { openRig, type Rig } from './rig.ts'

const [ADA, BOB, CY] = ['111', '444', '555'].map((id) => `telegram:direct:${id}`)

const send = (to: string | undefined, message: string) =>
  `{ tool: sessions_send, args: { sessionKey: '${to}', message: '${message}', timeoutSeconds: 20 } }`

/** Each session passes on what it is told, and ends with what its tool answered. */
const SCRIPT = `
rules:
  - when: { contains: 'ask yourself' }
    steps: [{ calls: [${send(ADA, 'a thought')}] }, { text: asked }]
  - when: { contains: 'ask bob' }
    steps: [{ calls: [${send(BOB, 'please ask cy')}] }, { text: asked }]
  - when: { contains: 'please ask cy' }
    steps: [{ calls: [${send(CY, 'now ask ada')}] }, { text: asked }]
  - when: { contains: 'now ask ada' }
    steps: [{ calls: [${send(ADA, 'round it goes')}] }, { text: asked }]
  - when: { contains: 'ping bob' }
    steps: [{ calls: [${send(BOB, 'ping ada')}] }, { text: asked }]
  - when: { contains: 'ping ada' }
    steps: [{ calls: [{ tool: sessions_send, args: { sessionKey: '${ADA}', message: 'ping bob', timeoutSeconds: 0 } }] }, { text: asked }]
  - steps: [{ text: heard }]
`

async function household(): Promise<Rig> {
  const people = [owner('ada', 'telegram:111'), owner('bob', 'telegram:444'), owner('cy', 'telegram:555')]
  const rig = await openRig({ script: SCRIPT, routing: { people } })
  for (const id of ['111', '444', '555']) await rig.ask(id, 'hello')
  return rig
}

const statuses = async (rig: Rig, name: string | undefined): Promise<readonly string[]> =>
  (await rig.results(name ?? '')).map(({ status }) => status)

describe('a circle of waits', () => {
  it('a session that sends to itself is answered accepted at once, and hears itself afterwards', async () => {
    const rig = await household()
    const { id } = await rig.named(ADA ?? '')
    expect(await rig.ask('111', 'ask yourself')).toBe('asked')
    expect(await statuses(rig, ADA)).toEqual(['accepted'])
    if (rig.engine.running.has(id)) await rig.engine.running.nextEnd(id)
    const { messages } = await rig.tools.history({ sessionKey: ADA ?? '' }, { principal: { role: 'owner' } })
    expect(messages.map(({ text }) => text)).toContain('a thought')
  })

  it('Ada waits for Bob, Bob for Cy, and Cy, who would wait for Ada, is answered accepted', async () => {
    const rig = await household()
    expect(await rig.ask('111', 'ask bob')).toBe('asked')
    expect([await statuses(rig, ADA), await statuses(rig, BOB), await statuses(rig, CY)]).toEqual([
      ['ok'],
      ['ok'],
      ['accepted'],
    ])
  })

  it('sessions that keep writing to each other are stopped after five messages', async () => {
    const rig = await household()
    await rig.ask('111', 'ping bob')
    const refused = async (): Promise<string | undefined> => {
      const results = [...(await rig.results(ADA ?? '')), ...(await rig.results(BOB ?? ''))]
      return results.flatMap((answer) => (answer.status === 'error' ? answer.error : []))[0]
    }
    const [ada, bob] = [await rig.named(ADA ?? ''), await rig.named(BOB ?? '')]
    while ((await refused()) === undefined) {
      const ends = [rig.engine.running.nextEnd(ada.id), rig.engine.running.nextEnd(bob.id)]
      if ((await refused()) === undefined) await Promise.race(ends)
    }
    expect(await refused()).toContain('5 sessions already')
    const sent = (await rig.store.read.inbox.recent(50)).filter(({ dispatch }) => dispatch.origin === 'tool')
    expect(sent).toHaveLength(5)
  })
})
