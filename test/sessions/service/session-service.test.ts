import { describe, expect, it } from 'vitest'
import { type SessionId, toPersonId } from '../../../src/core/ids.ts'
import { purgeLeftovers } from '../../../src/sessions/service/delete-session.ts'
import { failureOf } from '../../contracts/store/under-test.ts'
import {
  assistantMessage,
  deliveryOf,
  inboxRow,
  sessionDraft,
  turnCompleted,
  turnOf,
  userMessage,
} from '../../store/sample-rows.ts'
import { removeTempFolders } from '../../store/temp-database.ts'
import { ADA, BOB, DAY, GUEST, OPERATOR, type ServiceRig, serviceRig, token } from '../service-rig.ts'

removeTempFolders()

const HOUR = 3_600_000

const all = { limit: 200, offset: 0, inactive: true }
const notFound = expect.objectContaining({ code: 'not_found' })

async function joined(rig: ServiceRig, session: SessionId, participant: string): Promise<void> {
  await rig.store.write((tx) => tx.participants.add(session, participant, 1))
}

/** What a caller is told at each door, by code; undefined where it opened. */
async function doors({ service }: ServiceRig, caller: Parameters<typeof service.get>[0], name: string) {
  const tries = {
    open: () => service.open(caller, name),
    read: () => service.get(caller, name),
    history: () => service.history(caller, name, { limit: 1 }),
    post: () => service.post(caller, name, { text: 'hello' }),
    rename: () => service.rename(caller, name, 'mine'),
    patch: () => service.patch(caller, name, { sendPolicy: 'deny' }),
    boundary: () => service.setHistory(caller, name, { kind: 'compacted' }),
    delete: () => service.delete(caller, name),
  }
  const answers = await Promise.all(
    Object.entries(tries).map(async ([door, knock]) => {
      const code = await knock().then(
        () => 'opened',
        (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
      )
      return [door, code] as const
    }),
  )
  return Object.fromEntries(answers)
}

describe('access', () => {
  it.each([
    ['a member', BOB],
    ['a guest', GUEST],
    ['a token of another channel', token('slack')],
  ])('S20: %s who is no participant gets the answer of a session that is not there', async (_who, caller) => {
    const rig = await serviceRig()
    const id = await rig.make()
    const refused = await doors(rig, caller, id)
    const absent = await doors(rig, caller, 'telegram:2026-01-01-ffffffff')
    const plain = (answers: Record<string, string>, name: string) =>
      Object.values(answers).map((answer) => answer.replaceAll(name, '<name>'))
    expect(plain(refused, id)).toEqual(plain(absent, 'telegram:2026-01-01-ffffffff'))
    expect(Object.values(refused)).toEqual(Object.values(refused).map(() => `not_found: There is no session ${id}.`))
    expect((await rig.service.list(caller, all)).total).toBe(0)
  })

  it('S20: a participant reads, names and deletes the session, and changes no policy', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    await joined(rig, id, 'telegram:444')
    expect((await rig.service.list(BOB, all)).sessions.map((session) => session.id)).toEqual([id])
    expect(await rig.service.get(BOB, id)).toMatchObject({ participants: ['telegram:444'] })
    expect(await failureOf(rig.service.patch(BOB, id, { sendPolicy: 'deny' }))).toMatchObject({ code: 'forbidden' })
    expect(await rig.service.rename(BOB, id, ' Lunch\n plans ')).toMatchObject({ description: 'Lunch plans' })
    await rig.service.delete(BOB, id)
    expect(await failureOf(rig.service.get(OPERATOR, id))).toEqual(notFound)
  })

  it('S20: a participant of a session that people of several chats share does not delete it, an owner does', async () => {
    const rig = await serviceRig()
    const { scope } = sessionDraft(1)
    const id = await rig.make({ kind: 'other', scope: { ...scope, dimensions: [], values: {} } })
    await joined(rig, id, 'telegram:444')
    for (const caller of [BOB, token('telegram')])
      expect(await failureOf(rig.service.delete(caller, id))).toMatchObject({ code: 'forbidden' })
    await rig.service.delete(ADA, id)
    expect(await failureOf(rig.service.get(OPERATOR, id))).toEqual(notFound)
  })

  it('S21: an owner reads every session and becomes no participant', async () => {
    const rig = await serviceRig()
    const id = await rig.make({ kind: 'group', chatType: 'group' })
    await rig.service.open(ADA, id)
    expect(await rig.service.get(ADA, id)).toMatchObject({ id, participants: [] })
    expect((await rig.service.list(ADA, all)).total).toBe(1)
  })

  it('S19: a link, its end and a new role count at the next opening', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    await joined(rig, id, 'discord:900')
    expect(await failureOf(rig.service.open(BOB, id))).toEqual(notFound)
    rig.links.set(toPersonId('bob'), ['telegram:444', 'discord:900'])
    expect(await rig.service.open(BOB, id)).toMatchObject({ id })
    rig.links.set(toPersonId('bob'), ['telegram:444'])
    expect(await failureOf(rig.service.open(BOB, id))).toEqual(notFound)
    expect(await rig.service.open({ kind: 'person', person: toPersonId('bob'), role: 'owner' }, id)).toMatchObject({
      id,
    })
  })

  it('S42: a token reaches ids of its namespace and a colon, in lists too', async () => {
    const rig = await serviceRig()
    for (const id of [
      'web:alice:phone',
      'web:alice2:phone',
      'web:alicex:phone',
      'web:alice',
      'telegram:2026-11-21-00000001',
    ])
      await rig.make({ id: id as SessionId })
    const alice = token('web:alice')
    expect(await rig.service.list(alice, all)).toMatchObject({ sessions: [{ id: 'web:alice:phone' }], total: 1 })
    expect(await rig.service.get(alice, 'web:alice:phone')).toMatchObject({ id: 'web:alice:phone' })
    expect((await rig.service.list(token('web'), all)).total).toBe(4)
    expect((await rig.service.list(token('telegram'), all)).total).toBe(1)
    expect(await failureOf(rig.service.patch(alice, 'web:alice:phone', { sendPolicy: 'deny' }))).toMatchObject({
      code: 'forbidden',
    })
  })

  it.each([
    'web:alice2:phone',
    'web:alice',
    'WEB:alice2:phone',
    'web%3Aalice:phone',
    'web:alice%2f..',
    'wеb:alice:phone',
    '',
  ])('S42, F-H09: %j is not in the namespace web:alice, and answers like a name nobody gave', async (name) => {
    const rig = await serviceRig()
    for (const id of ['web:alice2:phone', 'web:alice']) await rig.make({ id: id as SessionId })
    const answers = await doors(rig, token('web:alice'), name)
    expect([...new Set(Object.values(answers))]).toEqual([`not_found: There is no session ${name}.`])
  })

  it('S2, S42: a token opens sessions of its namespace and no other', async () => {
    const rig = await serviceRig()
    expect(await rig.service.open(token('web:alice'), 'web:alice:phone')).toMatchObject({ id: 'web:alice:phone' })
    expect(await failureOf(rig.service.open(token('web:alice'), 'web:bob:phone'))).toEqual(notFound)
    expect(await failureOf(rig.service.open(token('telegram'), 'telegram:2026-11-21-0000'))).toEqual(notFound)
  })
})

describe('opening', () => {
  it('S2, S11, S18: a door of ours opens its session by name, again and again', async () => {
    const rig = await serviceRig()
    const first = await rig.service.open(OPERATOR, 'cli:desk')
    expect(first).toMatchObject({ id: 'cli:desk', status: 'idle', source: { kind: 'cli', platform: 'cli' } })
    await rig.store.write((tx) => tx.sessions.deactivate('cli:desk' as SessionId, 1))
    expect(await rig.service.get(OPERATOR, 'cli:desk')).toMatchObject({ status: 'inactive' })
    const again = await rig.service.open(OPERATOR, 'cli:desk')
    expect(again).toMatchObject({ status: 'idle', source: first.source, createdAt: first.createdAt })
    expect((await rig.service.list(OPERATOR, all)).total).toBe(1)
  })

  it('S2: a session is named after its door and its name, exactly, and two names are two sessions', async () => {
    const rig = await serviceRig()
    const names = ['cli:desk', 'cli:desk2', 'web:phone', 'web:alice:phone', 'api:desk']
    for (const name of names) {
      const [kind] = name.split(':')
      expect(await rig.service.open(OPERATOR, name)).toMatchObject({ id: name, source: { kind, platform: kind } })
    }
    const { sessions, total } = await rig.service.list(OPERATOR, all)
    expect(sessions.map(({ id }) => id).sort()).toEqual([...names].sort())
    expect(total).toBe(names.length)
  })

  it.each(['desk', 'cli:', 'cli:a/b', 'telegram:x', 'cli:ä'])('S2: %j opens nothing', async (name) => {
    const { service } = await serviceRig()
    const code = name.startsWith('cli:') ? 'invalid' : 'not_found'
    expect(await failureOf(service.open(OPERATOR, name))).toMatchObject({ code })
  })
})

describe('status and lists', () => {
  it('S6: a session is running while its turn runs', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    expect(await rig.service.get(OPERATOR, id)).toMatchObject({ status: 'idle' })
    rig.running.add(id)
    expect(await rig.service.get(OPERATOR, id)).toMatchObject({ status: 'running' })
  })

  it('S12: a session without a word for the configured days is inactive; the next one takes it up again', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    const created = (await rig.service.get(OPERATOR, id)).createdAt
    const listed = async () => (await rig.service.list(OPERATOR, { ...all, inactive: false })).total
    rig.setNow(created + 3 * DAY)
    expect(await listed()).toBe(1)
    // The lists are counted by the hour.
    rig.setNow(created + 3 * DAY + HOUR)
    expect(await listed()).toBe(0)
    expect(await rig.service.get(OPERATOR, id)).toMatchObject({ status: 'inactive' })
    expect((await rig.service.list(OPERATOR, all)).sessions[0]).toMatchObject({ status: 'inactive' })
    await rig.store.write((tx) => tx.events.append(id, created + 3 * DAY + HOUR, [userMessage('hello again')]))
    expect(await listed()).toBe(1)
  })

  it('S9, S13, S14, K43: the report has scope, aliases, description, preview and counts', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    await rig.store.write(async (tx) => {
      const session = await tx.sessions.get(id)
      if (session) await tx.aliases.add(session.scopeKey, ['agent:main:direct:ada'])
      await tx.events.append(id, 1_800_000_000_001, [userMessage('what now?'), assistantMessage('wait'), turnCompleted])
    })
    expect(await rig.service.get(OPERATOR, 'agent:main:direct:ada')).toMatchObject({
      id,
      scope: { version: 1, agent: 'main', channel: 'telegram' },
      scopeKey: expect.stringMatching(/^sk_v1_/),
      aliases: ['agent:main:direct:ada'],
      description: 'what now?',
      preview: 'wait',
      messages: 2,
      turns: 1,
      systemSent: true,
      abortedLastRun: false,
    })
  })

  it.each([0, 201, 1.5])('R2: a page of %s is refused', async (limit) => {
    const rig = await serviceRig()
    const id = await rig.make()
    expect(await failureOf(rig.service.list(OPERATOR, { ...all, limit }))).toMatchObject({ code: 'invalid' })
    expect(await failureOf(rig.service.history(OPERATOR, id, { limit }))).toMatchObject({ code: 'invalid' })
  })

  it('R2, S16: a history is paged from the newest page to the first, without a gap', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    await rig.store.write((tx) =>
      tx.events.append(
        id,
        1,
        ['a', 'b', 'c', 'd', 'e'].map((text) => userMessage(text)),
      ),
    )
    const newest = await rig.service.history(OPERATOR, id, { limit: 2 })
    expect([newest.events.map(({ seq }) => seq), newest.total, newest.before]).toEqual([[4, 5], 5, 4])
    const middle = await rig.service.history(OPERATOR, id, { limit: 2, before: 4 })
    expect([middle.events.map(({ seq }) => seq), middle.before]).toEqual([[2, 3], 2])
    const first = await rig.service.history(OPERATOR, id, { limit: 200, before: 2 })
    expect([first.events.map(({ seq }) => seq), first.before]).toEqual([[1], undefined])
    expect(await rig.service.history(OPERATOR, id, { limit: 9, before: 1 })).toMatchObject({ events: [], total: 5 })
  })
})

describe('changes', () => {
  it('T29: sendPolicy takes allow, deny and null, and decides at once', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    const { scopeKey } = await rig.service.patch(OPERATOR, id, { sendPolicy: 'deny' })
    expect(rig.overrides.send(scopeKey as never)).toBe('deny')
    expect(await rig.service.patch(OPERATOR, id, { sendPolicy: 'allow' })).toMatchObject({ sendPolicy: 'allow' })
    expect(await rig.service.patch(OPERATOR, id, { sendPolicy: null })).not.toHaveProperty('sendPolicy')
    expect(rig.overrides.send(scopeKey as never)).toBeUndefined()
  })

  it.each([
    [{ sendPolicy: 'off' }, '"sendPolicy" must be allow, deny or null'],
    [{ sendPolicy: true }, '"sendPolicy" must be allow, deny or null'],
    [{ thinkingLevel: 'deep' }, '"thinkingLevel" must be off, low, medium, high or null'],
    [{ verboseLevel: '' }, '"verboseLevel" must be off, on, full or null'],
    [{ model: 'gpt' }, 'There is no key for gpt'],
    [{ model: 5 }, '"model" must be <server>/<model> or null'],
    [{ model: 'openai/gpt' }, 'There is no key for openai/gpt'],
    [{ sendpolicy: 'deny' }, '"sendpolicy" is not known; give sendPolicy, thinkingLevel, verboseLevel, voice, model'],
    [{}, 'nothing to change'],
    ['deny', 'as an object'],
    [null, 'as an object'],
  ])('T29: %j is refused and says what is taken', async (changes, message) => {
    const rig = await serviceRig()
    const id = await rig.make()
    const failure = await failureOf(rig.service.patch(OPERATOR, id, changes))
    expect(failure).toMatchObject({ code: 'invalid', message: expect.stringContaining(message) })
    expect(rig.overrides.of(id)).toEqual({})
  })

  it('T37: overrides are kept apart, beside each other, and survive in the row', async () => {
    const rig = await serviceRig()
    const [one, other] = [await rig.make(), await rig.make()]
    await rig.service.patch(OPERATOR, one, { thinkingLevel: 'high', verboseLevel: 'on' })
    await rig.service.patch(OPERATOR, one, { model: 'scripted/echo', verboseLevel: null })
    expect(await rig.service.get(OPERATOR, one)).toMatchObject({ thinkingLevel: 'high', model: 'scripted/echo' })
    expect(rig.overrides.of(one)).toEqual({ thinkingLevel: 'high', model: 'scripted/echo' })
    expect(rig.overrides.of(other)).toEqual({})
    await rig.overrides.reload()
    expect(rig.overrides.of(one)).toEqual({ thinkingLevel: 'high', model: 'scripted/echo' })
  })

  it.each(['', '  \n', 'x'.repeat(81)])('R3: %j is no name for a session', async (title) => {
    const rig = await serviceRig()
    expect(await failureOf(rig.service.rename(OPERATOR, await rig.make(), title))).toMatchObject({ code: 'invalid' })
  })

  it('R3: what is not there can be neither loaded, renamed nor deleted, and the answer names it', async () => {
    const { service } = await serviceRig()
    for (const work of [
      service.get(OPERATOR, 'nobody'),
      service.rename(OPERATOR, 'nobody', 'x'),
      service.delete(OPERATOR, 'nobody'),
    ])
      expect(await failureOf(work)).toMatchObject({ code: 'not_found', message: 'There is no session nobody.' })
  })
})

describe('deletion', () => {
  it('S40: an idle direct session goes, one that is being answered stays', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    await rig.store.write((tx) => tx.turns.start(turnOf(id, 1)))
    expect(await failureOf(rig.service.delete(OPERATOR, id))).toMatchObject({ code: 'conflict' })
    expect(await rig.service.get(OPERATOR, id)).toMatchObject({ id })
  })

  it('S40: a session with a message that waits stays', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    await rig.store.write((tx) => tx.inbox.add(inboxRow(1, 1, { sessionId: id })))
    expect(await failureOf(rig.service.delete(OPERATOR, id))).toMatchObject({ code: 'conflict' })
  })

  it.each(['group', 'channel'] as const)('S40: the session of a %s is never deleted', async (chatType) => {
    const rig = await serviceRig()
    const id = await rig.make({ kind: 'group', chatType })
    expect(await failureOf(rig.service.delete(OPERATOR, id))).toMatchObject({ code: 'forbidden' })
  })

  it('S41, C32: events, participants and overrides go, the records of what was received stay without a word', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    const row = inboxRow(1, 7, { sessionId: id, state: 'done' })
    const turn = turnOf(id, 1)
    await joined(rig, id, 'telegram:444')
    const { scopeKey } = await rig.service.patch(OPERATOR, id, { sendPolicy: 'deny' })
    await rig.store.write(async (tx) => {
      await tx.inbox.add(row)
      const said = { ...userMessage('a secret'), turnId: turn.id }
      if (said.type === 'user_message')
        await tx.events.append(id, 1, [{ ...said, data: { ...said.data, messageId: '7' } }])
      await tx.events.append(
        id,
        1,
        Array.from({ length: 450 }, (_, no) => userMessage(`more ${no}`)),
      )
      await tx.outbox.add([deliveryOf(turn.id, { part: { text: 'a secret', plain: 'a secret', markup: 'plain' } })])
    })
    await rig.service.delete(OPERATOR, id)
    expect(await rig.store.read.events.since(id, 0, 500)).toEqual([])
    expect(await rig.store.read.participants.of(id)).toEqual([])
    expect(await rig.store.read.sessions.deleted(5)).toEqual([])
    expect(rig.overrides.send(scopeKey as never)).toBeUndefined()
    expect(rig.dropped).toEqual([id])
    const [kept] = await rig.store.read.inbox.find(row.id)
    expect(kept).toMatchObject({
      decision: row.decision,
      dispatch: { traceId: row.dispatch.traceId, event: { text: '' } },
    })
    expect(await rig.store.read.outbox.ofSource(turn.id)).toMatchObject([{ state: 'expired', part: { text: '' } }])
    expect(JSON.stringify([kept, await rig.store.read.outbox.ofSource(turn.id)])).not.toContain('secret')
  })
})

describe('what the model is shown', () => {
  it('K33: an owner sets a boundary, which is an event of the log; others may not', async () => {
    const rig = await serviceRig()
    const id = await rig.make()
    await joined(rig, id, 'telegram:444')
    const { events } = await rig.service.setHistory(OPERATOR, id, { kind: 'truncated', turns: 2 })
    expect(events.at(-1)).toMatchObject({ type: 'history_boundary', text: 'the model is shown the newest 2 turns' })
    expect(await failureOf(rig.service.setHistory(BOB, id, { kind: 'compacted' }))).toMatchObject({ code: 'forbidden' })
    expect(await failureOf(rig.service.setHistory(OPERATOR, id, {}))).toMatchObject({ code: 'invalid' })
  })

  it('C32: what a crash left unpurged is purged after the next start, and nothing else', async () => {
    const rig = await serviceRig()
    const [gone, kept] = [await rig.make(), await rig.make()]
    await rig.store.write(async (tx) => {
      for (const id of [gone, kept]) await tx.events.append(id, 1, [userMessage('a')])
      await tx.sessions.remove(gone, 2)
    })
    await purgeLeftovers(rig.store, () => false)
    expect(await rig.store.read.sessions.deleted(5)).toEqual([])
    expect(await rig.store.read.events.since(gone, 0, 9)).toEqual([])
    expect(await rig.store.read.events.since(kept, 0, 9)).toHaveLength(1)
  })
})
