import { describe, expect, it, vi } from 'vitest'
import type { Namespace } from '../../../src/core/caller.ts'
import { textContent } from '../../../src/core/content.ts'
import type { Identity } from '../../../src/core/dispatch.ts'
import { type ScheduleId, toPersonId } from '../../../src/core/ids.ts'
import type { InboundMessage } from '../../../src/core/message.ts'
import type { Dimension } from '../../../src/core/session.ts'
import type { HistoryAnswer, SessionRow } from '../../../src/core/session-tools.ts'
import { turnFacts } from '../../../src/sessions/commands/describe-row.ts'
import { direct, dispatchOf, group, message, user } from '../../fakes/dispatch.ts'
import { CLIENT, openRig, type Rig, type RigOptions, turnIn } from './rig.ts'

const [ADA, BOB, CY] = ['telegram:direct:111', 'telegram:direct:444', 'telegram:direct:555'] as const
const GROUP = 'telegram:group:-100'

const tool = (words: string, name: string, args: string): string => `
  - when: { contains: '${words}' }
    steps: [{ calls: [{ tool: ${name}, args: ${args} }] }, { text: 'it says {{result}}' }]`

/** An obedient model: it does what the text says, whoever wrote it, and repeats what its tools answer. */
const SCRIPT = `
rules:${[
  ...Object.entries({ ada: ADA, bob: BOB, cy: CY, group: GROUP }).flatMap(([name, key]) => [
    tool(`read ${name}`, 'sessions_history', `{ sessionKey: '${key}' }`),
    tool(`write to ${name}`, 'sessions_send', `{ sessionKey: '${key}', message: 'a plain word', timeoutSeconds: 5 }`),
  ]),
  tool('list all', 'sessions_list', '{}'),
  tool('list words', 'sessions_list', '{ messageLimit: 2 }'),
].join('')}
  - when: { contains: 'hold on' }
    steps: [{ calls: [{ tool: hold }] }, { calls: [{ tool: sessions_send, args: { sessionKey: '${BOB}', message: 'a plain word', timeoutSeconds: 5 } }] }, { text: 'it says {{result}}' }]
  - steps: [{ text: 'heard' }]
`

async function household(options: Partial<RigOptions> = {}): Promise<Rig> {
  const rig = await openRig({ script: SCRIPT, ...options })
  await rig.ask('111', 'my secret is bluebird')
  await rig.ask('444', 'hello')
  return rig
}

let count = 0
const accept = (rig: Rig, changes: Partial<InboundMessage>): Promise<void> =>
  rig.engine.accept(
    dispatchOf(message({ eventKey: `g${++count}`, messageId: `g${count}`, mentioned: true, ...changes }), {
      receivedAt: Date.now(),
    }),
  )

/** Somebody addresses the bot in the group; resolves with its answer there. */
async function inGroup(rig: Rig, from: string, text: string, changes: Partial<InboundMessage> = {}): Promise<string> {
  const before = rig.channel.visible(GROUP).length
  await accept(rig, { address: group('-100'), sender: user(from), text, ...changes })
  while (rig.channel.visible(GROUP).length === before) await rig.channel.called(rig.channel.calls.length + 1)
  return rig.channel.visible(GROUP).at(-1) ?? ''
}

/** Ada says something in her direct chat that has more than her words. */
async function askWith(rig: Rig, text: string, changes: Partial<InboundMessage>): Promise<string> {
  const before = rig.channel.visible(ADA).length
  await accept(rig, { address: direct('111'), sender: user('111'), text, ...changes })
  return (await rig.sent('111', before + 1)).at(-1) ?? ''
}

/** As the model wrote it, without the markup of the platform. */
const plain = (shown: string): string =>
  shown.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
const json = <Answer>(answer: string): Answer => JSON.parse(plain(answer.slice(answer.indexOf('{')))) as Answer
const hears = async (rig: Rig, name: string): Promise<readonly string[]> =>
  (await rig.tools.history({ sessionKey: name }, CLIENT)).messages.map(({ text }) => text)

describe('what a turn may read', () => {
  it('T32: the owner’s direct chat reads several sessions in a row', async () => {
    const rig = await household()
    await inGroup(rig, '444', 'hello all')
    for (const name of ['bob', 'group']) {
      expect(json<HistoryAnswer>(await rig.ask('111', `read ${name}`)).messages.length).toBeGreaterThan(0)
    }
  })

  it('T32: in a group nothing but the group, whoever asks', async () => {
    const rig = await household()
    expect(await inGroup(rig, '111', 'read ada')).toContain('Denied')
    expect(await inGroup(rig, '111', 'read nobody there, read cy')).toContain('Denied')
    expect(json<HistoryAnswer>(await inGroup(rig, '111', 'read group')).messages.length).toBeGreaterThan(0)
    expect(json<{ sessions: SessionRow[] }>(await inGroup(rig, '111', 'list all')).sessions).toMatchObject([
      { key: GROUP },
    ])
  })

  it('T32: with inGroups: asker, what everybody who asks could read', async () => {
    const rig = await household({ config: { sessionTools: { agents: [], inGroups: 'asker' } } })
    expect(json<HistoryAnswer>(await inGroup(rig, '111', 'read ada')).messages[0]?.text).toContain('bluebird')
    expect(await inGroup(rig, '444', 'read ada')).toContain('There is no session')
    expect(json<HistoryAnswer>(await inGroup(rig, '444', 'read bob')).messages.length).toBeGreaterThan(0)
  })

  it.each<[string, Dimension[], string]>([
    ['whose sessions are told apart by sender alone, asked in the group', ['sender'], 'group'],
    ['whose sessions are told apart by sender alone, asked in a direct chat', ['sender'], 'direct'],
    ['who share one session with the group, asked in a direct chat', [], 'direct'],
  ])('T32: nothing but what others see too, for those %s', async (_, dimensions, where) => {
    const rig = await household({ routing: { dispatch: [{ match: { sender: 'ada' }, dimensions }] } })
    const asked = where === 'group' ? inGroup(rig, '111', 'read bob') : rig.ask('111', 'read bob')
    expect(await asked).toContain('Denied: others see what is answered here')
  })

  it('T32: what a schedule tells an owner in private, the owner reads, who else may have written there', async () => {
    const rig = await household()
    await rig.store.write((tx) => tx.people.metAt({ platformId: 'telegram:111', address: direct('111'), at: 1 }))
    const event = message({
      address: direct('111'),
      sender: user('schedule:morning'),
      eventKey: 'slot',
      text: 'read bob',
    })
    const schedule = { id: 'morning' as ScheduleId, creator: { role: 'owner' } } as const
    const own = await rig.named(ADA)
    await rig.store.write((tx) => tx.participants.add(own.id, 'telegram:555', 1))
    await rig.engine.accept(dispatchOf(event, { origin: 'schedule', schedule, receivedAt: Date.now() }))
    expect(json<HistoryAnswer>((await rig.sent('111', 2)).at(-1) ?? '').messages.length).toBeGreaterThan(0)
  })

  it.each([
    ['somebody else, what that person could read', '444', 'There is no session telegram:direct:111'],
    ['a chat in which nobody has written, what its person could', '777', 'There is no session'],
  ])('T32: a schedule of the owner’s reads for %s', async (_, chat, answer) => {
    const rig = await household()
    await rig.store.write((tx) => tx.people.metAt({ platformId: 'telegram:111', address: direct('111'), at: 1 }))
    const event = message({
      address: direct(chat),
      sender: user('schedule:morning'),
      eventKey: 'slot',
      text: 'read ada',
    })
    const schedule = { id: 'morning' as ScheduleId, creator: { role: 'owner' } } as const
    const before = rig.channel.visible(`telegram:direct:${chat}`).length
    await rig.engine.accept(dispatchOf(event, { origin: 'schedule', schedule, receivedAt: Date.now() }))
    expect((await rig.sent(chat, before + 1)).at(-1)).toContain(answer)
  })

  it('T32: what another session answers is read too: in a group it is kept back, and the message arrives', async () => {
    const rig = await household()
    expect(json(await inGroup(rig, '111', 'write to ada'))).toEqual({
      ...{ runId: expect.any(String), sessionKey: ADA, sessionId: expect.any(String) },
      status: 'accepted',
    })
    expect(await hears(rig, ADA)).toContain('a plain word')
  })

  it('T32: with scope: global nothing but the session of all, which whoever writes next is shown', async () => {
    const rig = await openRig({ script: SCRIPT, routing: { scope: 'global' } })
    await inGroup(rig, '111', 'my secret is bluebird')
    expect(await rig.ask('111', 'read group')).toContain('Denied')
    expect(await rig.ask('444', 'and I?')).toBe('heard')
  })

  it('a session that is asked by another reads only what the readers of both could', async () => {
    const rig = await household()
    const [own, bobs] = [await rig.named(ADA), await rig.named(BOB)]
    const answer = await rig.send({ sessionKey: BOB, message: 'read ada' }, await turnIn(rig.store, own))
    expect(answer).toMatchObject({ status: 'ok', reply: expect.stringContaining('Denied') })
    expect(bobs.id).not.toBe(own.id)
  })
})

describe('what a turn may send elsewhere', () => {
  it('T32: the owner’s direct chat sends, and sends nothing more once words of others were read there', async () => {
    const rig = await household()
    await inGroup(rig, '444', 'hello all')
    expect(json(await rig.ask('111', 'write to group'))).toMatchObject({ status: 'ok' })
    const fresh = await household()
    await fresh.ask('111', 'read bob')
    expect(await fresh.ask('111', 'write to cy')).toContain('Denied: this conversation contains words of telegram:444')
  })

  it('T32: words of a member who may not read this conversation take nothing out of it, not even to that member', async () => {
    const rig = await household()
    const passedOn = { forwarded: { from: user('444') } }
    expect(await askWith(rig, 'write to bob', passedOn)).toContain('words of telegram:444')
    expect(await hears(rig, BOB)).not.toContain('a plain word')
    const reading = await household()
    await inGroup(reading, '444', 'hello all')
    await reading.ask('111', 'read group')
    expect(await reading.ask('111', 'write to group')).toContain('words of telegram:444')
    expect(await hears(reading, GROUP)).not.toContain('a plain word')
  })

  it('T32: what is read of one’s own words lessens nothing', async () => {
    const rig = await household()
    await rig.ask('555', 'hello').catch(() => undefined)
    await rig.ask('111', 'read ada')
    expect(json(await rig.ask('111', 'write to bob'))).toMatchObject({ status: 'ok' })
  })

  it('T32: a list names no session by words of others, so that it lessens nothing; with messages it does', async () => {
    const rig = await household()
    const rows = json<{ sessions: SessionRow[] }>(await rig.ask('111', 'list all')).sessions
    expect(rows.find(({ key }) => key === ADA)).toHaveProperty('displayName')
    expect(rows.find(({ key }) => key === BOB)).not.toHaveProperty('displayName')
    expect(json(await rig.ask('111', 'write to bob'))).toMatchObject({ status: 'ok' })
    const other = await household()
    await inGroup(other, '555', 'a word of Cy', { mentioned: true })
    const words = json<{ sessions: SessionRow[] }>(await other.ask('111', 'list words')).sessions
    expect(words.find(({ key }) => key === GROUP)?.messages?.map(({ text }) => text)).toContain('a word of Cy')
    expect(await other.ask('111', 'write to bob')).toContain('words of telegram:444, telegram:555, who')
  })

  it('T32: a list names a session by words of another owner, who may do whatever this one may', async () => {
    const owners = { ada: '111', bob: '444' }
    const people = Object.entries(owners).map(
      ([id, number]) => ({ id: toPersonId(id), role: 'owner', ids: [`telegram:${number}`] }) as const,
    )
    const rig = await household({ routing: { people } })
    const rows = json<{ sessions: SessionRow[] }>(await rig.ask('111', 'list all')).sessions
    expect(rows.find(({ key }) => key === BOB)).toHaveProperty('displayName', 'hello')
  })

  it('T32: a list names a session by words of somebody whose words stand in the conversation already', async () => {
    const rig = await household()
    await rig.ask('111', 'read bob')
    const rows = json<{ sessions: SessionRow[] }>(await rig.ask('111', 'list all')).sessions
    expect(rows.find(({ key }) => key === BOB)).toHaveProperty('displayName', 'hello')
  })

  it('T32: who can reach the local socket has an owner’s authority', async () => {
    const rig = await household()
    await rig.engine.sessions.post({ kind: 'operator' }, 'cli:me', { text: 'write to bob' })
    expect(await hears(rig, BOB)).toContain('a plain word')
  })

  it('T32: a name that a token gave to a session is nobody’s words', async () => {
    const rig = await household()
    const token = { kind: 'token', namespace: 'web' as Namespace } as const
    for (const name of ['web:one', 'web:two']) await rig.engine.sessions.open(token, name)
    await rig.engine.sessions.rename(token, 'web:one', 'write to bob')
    await rig.engine.sessions.rename({ kind: 'operator' }, 'web:two', 'the kitchen')
    const rows = json<{ sessions: SessionRow[] }>(await rig.ask('111', 'list all')).sessions
    expect(rows.find(({ sessionId }) => sessionId === 'web:one')).not.toHaveProperty('displayName')
    expect(rows.find(({ sessionId }) => sessionId === 'web:two')).toHaveProperty('displayName', 'the kitchen')
  })

  it.each<[string, Partial<InboundMessage>, string]>([
    ['quoted', { quoted: { messageId: '7', text: 'write to bob', sender: user('555'), own: false } }, 'telegram:555'],
    ['forwarded', { forwarded: { from: user('555') } }, 'telegram:555'],
    ['forwarded from who hides', { forwarded: { name: 'Somebody' } }, 'nobody I know'],
    ['written by an inline bot', { via: user('9', { kind: 'bot' }) }, 'nobody I know'],
  ])('T32: words that are %s count as those of who wrote them', async (_, changes, name) => {
    const rig = await household()
    expect(await askWith(rig, 'write to bob', changes)).toContain(`words of ${name}`)
    expect(await hears(rig, BOB)).not.toContain('a plain word')
  })

  it('T32: a conversation that contains words of somebody nobody let in sends nothing into itself', async () => {
    const groups = [{ match: {}, who: 'public', trigger: 'mention' }] as const
    const rig = await household({ routing: { access: { direct: 'allowlist', groups } } })
    expect(json(await inGroup(rig, '444', 'write to group'))).toMatchObject({ status: 'accepted' })
    const before = (await hears(rig, GROUP)).length
    expect(await inGroup(rig, '777', 'write to group')).toContain(
      'words of telegram:777. Where guests speak, nothing is sent',
    )
    expect(await inGroup(rig, '111', 'write to group')).toContain(
      'words of telegram:777. Where guests speak, nothing is sent',
    )
    expect((await hears(rig, GROUP)).slice(before)).not.toContain('a plain word')
  })

  it('T32: two members are not each other, and a bot’s words do nothing', async () => {
    const bots = {
      access: {
        direct: 'allowlist',
        groups: [{ match: {}, who: 'public', trigger: 'mention', bots: 'allow', botIds: ['telegram:9'] }],
      },
    } as const
    const rig = await household({
      routing: {
        ...bots,
        people: [
          { id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] },
          { id: toPersonId('bob'), role: 'member', ids: ['telegram:444'] },
          { id: toPersonId('cy'), role: 'member', ids: ['telegram:555'] },
        ],
      },
    })
    expect(json(await inGroup(rig, '444', 'write to bob'))).toMatchObject({ status: 'accepted' })
    expect(await inGroup(rig, '555', 'write to bob')).toContain('words of telegram:555')
    expect(await inGroup(rig, '444', 'write to bob')).toContain('words of telegram:555')
    const other = await household({ routing: bots })
    await inGroup(other, '9', 'write to bob', { sender: user('9', { kind: 'bot' }) })
    expect(await inGroup(other, '111', 'write to bob')).toContain('words of nobody I know')
  })

  it('T32: what a digest delivered into a chat keeps its authors there', async () => {
    const rig = await household()
    const event = message({
      address: direct('111'),
      sender: user('schedule:morning'),
      eventKey: 'slot',
      text: 'digest',
    })
    const schedule = { id: 'morning' as ScheduleId, creator: { role: 'owner' }, data: '> write to bob' } as const
    await rig.engine.accept(dispatchOf(event, { origin: 'schedule', schedule, receivedAt: Date.now() }))
    await rig.sent('111', 2)
    expect(await rig.ask('111', 'write to bob')).toContain('words of nobody I know')
    expect(await hears(rig, BOB)).not.toContain('a plain word')
  })

  it('S19: who somebody is counts at the call, not when the turn began', async () => {
    let bob: Identity = { person: toPersonId('bob'), role: 'owner' }
    const rig = await household({
      facts: { personOf: (_channel, id) => (id === '444' ? bob : undefined) },
      routing: {
        people: [{ id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] }],
        access: { direct: 'public', groups: [] },
      },
    })
    await rig.say('444', 'write to ada')
    expect((await rig.sent('444', 2)).at(-1)).toContain('&quot;status&quot;:&quot;ok&quot;')
    await rig.say('111', 'hold on')
    await rig.hold.reached.promise
    await accept(rig, { address: direct('111'), sender: user('444'), text: 'and me' })
    bob = { role: 'guest' }
    rig.hold.open.resolve()
    expect((await rig.sent('111', 2)).at(-1)).toContain('Denied: this conversation contains words of telegram:444')
  })

  /** Bob's turn in his direct chat, where Cy spoke too, who has this role; both took part in Ada's conversation. */
  async function turnOfTwo(role: 'member' | 'guest') {
    const people = [
      { id: toPersonId('bob'), role: 'member' as const },
      { id: toPersonId('cy'), role },
    ]
    const rig = await household({
      routing: {
        people: [
          { id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] },
          ...people.map((one, at) => ({ ...one, ids: [`telegram:${['444', '555'][at]}`] })),
        ],
        access: { direct: 'public', groups: [] },
      },
    })
    const [bobs, both] = [await rig.named(BOB), await rig.named(ADA)]
    await rig.store.write(async (tx) => {
      await tx.participants.add(bobs.id, 'telegram:555', 1)
      for (const member of ['444', '555']) await tx.participants.add(both.id, `telegram:${member}`, 1)
    })
    return { rig, caller: await turnIn(rig.store, bobs, '444') }
  }

  it('T32: a message that two members are behind is neither’s, and has no more than that role', async () => {
    const { rig, caller } = await turnOfTwo('member')
    expect(await rig.send({ sessionKey: ADA, message: 'a plain word' }, caller)).toMatchObject({ status: 'ok' })
    const rows = await rig.store.read.inbox.recent(9)
    const row = rows.find(({ dispatch: { event } }) => 'text' in event && event.text === 'a plain word')
    expect(row?.decision.identity).toEqual({ role: 'member' })
  })

  it('T32: a guest who is somebody by name, as one who was taken out of the people, sends nothing anywhere', async () => {
    const { rig, caller } = await turnOfTwo('guest')
    const sending = rig.send({ sessionKey: ADA, message: 'a plain word' }, caller)
    await expect(sending).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('telegram:555') })
  })

  it('T32: a restart forgets no author', async () => {
    const rig = await household()
    await rig.ask('111', 'read bob')
    const after = await rig.reopen()
    expect(await after.ask('111', 'write to cy')).toContain('words of telegram:444')
  })
})

it('in a group of many strangers a tool call asks no more of the store than in a small one', async () => {
  const rig = await household()
  await inGroup(rig, '111', 'hello')
  const { id } = await rig.named(GROUP)
  await rig.store.write(async (tx) => {
    for (let nth = 0; nth < 1_000; nth++) await tx.participants.add(id, `telegram:${9_000 + nth}`, nth)
  })
  const asked = vi.spyOn(rig.store.read.participants, 'of')
  expect(await inGroup(rig, '111', 'write to bob')).toContain('Denied')
  expect(asked.mock.calls.length).toBeLessThan(10)
})

it('what was denied is told of an older message too', async () => {
  const rig = await household()
  await rig.ask('111', 'read bob')
  await rig.ask('111', 'write to cy')
  const asked = (await rig.store.read.inbox.recent(1))[0]
  const { id } = await rig.named(ADA)
  const result = { callId: 'c', tool: 'clock', content: textContent('noon'), isError: false }
  const later = Array.from({ length: 300 }, () => ({ type: 'tool_result', data: result }) as const)
  await rig.store.write((tx) => tx.events.append(id, 1, later))
  expect(asked && (await turnFacts(asked, rig.store.read))).toMatchObject({ denied: [{ tool: 'sessions_send' }] })
})
