import { expect, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import type { SessionListQuery } from '../../src/core/operate-sessions.ts'
import { fakeOperator, sampleSession, sampleWhy } from '../fakes/operator.ts'
import { rig, serveDaemon } from './rig.ts'

const KEY = sampleSession.key

test.each([
  [['history', KEY, '--limit', '5'], { history: KEY, limit: 5 }, 'at noon'],
  [['history', KEY, '--before', '9'], { history: KEY, limit: 50, before: 9 }, 'the page before with --before 1'],
  [['rename', KEY, 'Lunch'], { rename: KEY, title: 'Lunch' }, 'is now called "Lunch"'],
  [['delete', KEY], { delete: KEY }, 'deleted'],
  [['truncate', KEY, '1'], { setHistory: KEY, boundary: { kind: 'truncated', turns: 1 } }, 'the newest 1 turn.'],
  [['truncate', KEY, '3'], { setHistory: KEY, boundary: { kind: 'truncated', turns: 3 } }, 'the newest 3 turns'],
  [
    ['start', 'api:a', '--agent', 'main', '--tools', 'time', '--workspace', 'w', '--context', 'city=Oslo'],
    { name: 'api:a', agent: 'main', tools: ['time'], workspace: 'w', context: { city: 'Oslo' } },
    'api:a has begun; write to it with: parley send api:a',
  ],
  [['compact', KEY], { setHistory: KEY, boundary: { kind: 'compacted' } }, 'stays hidden'],
  [['patch', KEY, '--send', 'deny'], { patch: KEY, changes: { sendPolicy: 'deny' } }, 'sendPolicy deny'],
  [
    ['patch', KEY, '--model', 'inherit', '--thinking', 'high', '--verbose', 'on'],
    { patch: KEY, changes: { thinkingLevel: 'high', verboseLevel: 'on', model: null } },
    'sendPolicy deny',
  ],
])('R3, T29: parley sessions %j asks the daemon and says what came of it', async (argv, asked, text) => {
  const operator = fakeOperator()
  const parley = await rig()
  await serveDaemon(parley, operator)
  expect(await parley.run('sessions', ...argv)).toBe(0)
  expect(operator.asked).toEqual([asked])
  expect(parley.out()).toContain(text)
})

test.each(['history', 'show', 'delete', 'patch'])(
  'R3: %s of a session that is not there exits 1 and names it',
  async (verb) => {
    const parley = await rig()
    await serveDaemon(parley, fakeOperator())
    const options = verb === 'patch' ? ['--send', 'allow'] : []
    expect(await parley.run('sessions', verb, 'none', ...options)).toBe(1)
    expect(parley.err()).toContain('none')
  },
)

test('T29: patch without an option says what there is, and asks nobody', async () => {
  const operator = fakeOperator()
  const parley = await rig()
  await serveDaemon(parley, operator)
  expect(await parley.run('sessions', 'patch', KEY)).toBe(2)
  expect(parley.err()).toContain('nothing to change; give --send, --thinking, --verbose, --voice, --model')
  expect(operator.asked).toEqual([])
})

test.each(['--send', '--thinking', '--verbose'])(
  'T29: patch %s says what it takes, and asks nobody',
  async (option) => {
    const operator = fakeOperator()
    const parley = await rig()
    await serveDaemon(parley, operator)
    expect(await parley.run('sessions', 'patch', KEY, option, 'perhaps')).toBe(2)
    expect(parley.err()).toMatch(new RegExp(`${option} .*Allowed choices are .*, inherit`))
    expect(operator.asked).toEqual([])
  },
)

test.each([
  [['hello'], { post: KEY, text: 'hello', deliver: false, waitSeconds: 120 }, 0, 'echo'],
  [['hello', '--deliver', '--wait', '5'], { post: KEY, text: 'hello', deliver: true, waitSeconds: 5 }, 0, 'echo'],
  [['hello', '--no-answer'], { post: KEY, text: 'hello', deliver: false, waitSeconds: 120, answer: false }, 0, 'echo'],
  [['fail'], { post: KEY, text: 'fail', deliver: false, waitSeconds: 120 }, 1, 'no'],
])('S44: parley send %j prints the answer, and exits 1 where there is none', async (argv, asked, code, text) => {
  const operator = fakeOperator()
  const parley = await rig()
  await serveDaemon(parley, operator)
  expect(await parley.run('send', KEY, ...argv)).toBe(code)
  expect(operator.asked).toEqual([asked])
  expect(parley.out() + parley.err()).toContain(text)
})

test.each([
  ['notes', 'There is no session notes; "cli:notes" begins a conversation of your own.'],
  ['telegram:group:-1', 'There is no session telegram:group:-1.'],
])('parley send to %s, which is none, says what is', async (name, words) => {
  const operator = fakeOperator()
  const post = async () => {
    throw new ParleyError('not_found', `There is no session ${name}.`)
  }
  const parley = await rig()
  await serveDaemon(parley, { ...operator, sessions: { ...operator.sessions, post } })
  expect(await parley.run('send', name, 'hello')).toBe(1)
  expect(parley.err()).toBe(`${words}\n`)
})

test.each([
  [
    ['create', 'telegram', '--label', 'bridge'],
    { token: { namespace: 'telegram', label: 'bridge' } },
    'ply_a1_secret\n',
  ],
  [['list'], 'tokens', 'revoked'],
  [['revoke', 'a1'], { revoke: 'a1' }, 'opens nothing any more.\n'],
  [
    ['revoke', 'b2'],
    { revoke: 'b2' },
    'opens nothing any more.\nNeither does what it had made:\n  ply_c3  made by it\n',
  ],
  [['revoke', 'b2', '--json'], { revoke: 'b2' }, '"also"'],
])('S42: parley token %j asks the daemon', async (argv, asked, text) => {
  const operator = fakeOperator()
  const parley = await rig()
  await serveDaemon(parley, operator)
  expect(await parley.run('token', ...argv)).toBe(0)
  expect(operator.asked).toEqual([asked])
  expect(parley.out()).toContain(text)
})

test.each(['Workshop › Engines', 'workshop > engines', 'Engines'])(
  'sessions show takes the title %s',
  async (title) => {
    const parley = await rig()
    await serveDaemon(parley, fakeOperator())
    expect(await parley.run('sessions', 'show', title)).toBe(0)
    expect(parley.out()).toContain('Workshop › Engines')
  },
)

const TAKE_A_SESSION: readonly (readonly [string, ...string[]])[] = [
  ['sessions', 'show', 'Engines'],
  ['sessions', 'history', 'Engines'],
  ['sessions', 'delete', 'Engines'],
  ['sessions', 'rename', 'Engines', 'Lunch'],
  ['sessions', 'patch', 'Engines', '--send', 'deny'],
  ['sessions', 'truncate', 'Engines', '1'],
  ['sessions', 'compact', 'Engines'],
  ['sessions', 'move', 'Engines', 'telegram:group:-2'],
  ['sessions', 'fork', 'Engines', 'telegram:group:-2'],
  ['export', 'Engines', '--out', 'engines.md', '--force'],
  ['send', 'Engines', 'hello'],
  ['why', 'Engines'],
  ['schedule', 'add', 'Engines', 'in 2h stretch'],
  ['sessions', 'move', KEY, 'Engines'],
]

test.each([...TAKE_A_SESSION, ['forget', 'chat', 'Engines', '--dry-run']])(
  '%s %s takes a title that one conversation has: %j',
  async (...argv) => {
    const fake = fakeOperator()
    const why = async (name: string) => (name === KEY ? [sampleWhy] : [])
    const parley = await rig()
    await serveDaemon(parley, fakeOperator({ ...fake, why }))
    expect([await parley.run(...argv), parley.err()]).toEqual([0, ''])
  },
)

test.each(TAKE_A_SESSION)(
  '%s %s says the keys of a title that several conversations have, and does nothing: %j',
  async (...argv) => {
    const fake = fakeOperator()
    const twice = [sampleSession, { ...sampleSession, key: 'telegram:group:-2' }]
    const list = async () => ({ sessions: twice, total: 2 })
    const parley = await rig()
    await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list } }))
    expect(await parley.run(...argv)).toBe(2)
    expect(parley.err()).toContain(
      `Several conversations are called "Engines"; name one by its key: ${KEY}, telegram:group:-2`,
    )
    expect(parley.out()).toBe('')
  },
)

test('a title with the id of its chat, as the list has it where several are called so, names one', async () => {
  const fake = fakeOperator()
  const key = 'telegram:direct:7'
  const list = async () => ({
    sessions: [7, 8].map((id) => ({ ...sampleSession, title: 'Ada', id: `ada${id}`, key: `telegram:direct:${id}` })),
    total: 2,
  })
  const shown: string[] = []
  const show = async (name: string) => {
    shown.push(name)
    if (name !== 'ada7') throw new ParleyError('not_found', name)
    return { ...sampleSession, key }
  }
  const parley = await rig()
  await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list, show } }))
  expect([await parley.run('sessions', 'show', 'ada (7)'), parley.err()]).toEqual([0, ''])
  expect(shown).toEqual(['ada (7)', 'ada7'])
})

test('a title is that of the session in use, beside earlier ones of the same conversation', async () => {
  const fake = fakeOperator()
  const list = async () => ({ sessions: [sampleSession, { ...sampleSession, id: 'earlier' }], total: 2 })
  const parley = await rig()
  await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list } }))
  expect([await parley.run('sessions', 'show', 'Engines'), parley.err()]).toEqual([0, ''])
  expect(parley.out()).toContain(KEY)
})

test.each(['telegram:direct:111', 'main', 'node-7'])(
  'a place that is called %s does not stand in for a session of that name which is not there',
  async (title) => {
    const fake = fakeOperator()
    const list = async () => ({ sessions: [{ ...sampleSession, title }], total: 1 })
    const parley = await rig()
    await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list } }))
    expect(await parley.run('sessions', 'show', title)).toBe(1)
    expect(parley.out()).toBe('')
  },
)

test('a title is no name where others with it may lie beyond what is looked through', async () => {
  const fake = fakeOperator()
  const list = async ({ offset }: SessionListQuery) => ({
    sessions: offset === 0 ? [sampleSession] : [{ ...sampleSession, title: 'Other' }],
    total: 2_001,
  })
  const parley = await rig()
  await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list } }))
  expect(await parley.run('sessions', 'show', 'Workshop › Engines')).not.toBe(0)
  expect(parley.err()).toContain(KEY)
})
