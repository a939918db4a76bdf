import { expect, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import { fakeOperator, sampleSession } from '../fakes/operator.ts'
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

test('a title that several places have is answered with their keys, and reads none of them', async () => {
  const fake = fakeOperator()
  const twice = [sampleSession, { ...sampleSession, key: 'telegram:group:-2' }]
  const list = async () => ({ sessions: twice, total: 2 })
  const parley = await rig()
  await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list } }))
  expect(await parley.run('sessions', 'show', 'Workshop › Engines')).not.toBe(0)
  expect(parley.err()).toContain(`${KEY}, telegram:group:-2`)
})

test('a title is that of the session in use, beside earlier ones of the same conversation', async () => {
  const fake = fakeOperator()
  const list = async () => ({ sessions: [sampleSession, { ...sampleSession, id: 'earlier' }], total: 2 })
  const parley = await rig()
  await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list } }))
  expect([await parley.run('sessions', 'show', 'Engines'), parley.err()]).toEqual([0, ''])
  expect(parley.out()).toContain(KEY)
})

test.each([
  ['sessions', 'delete', 'Engines'],
  ['sessions', 'rename', 'Engines', 'Lunch'],
  ['sessions', 'move', 'Engines', 'telegram:group:-2'],
  ['export', 'Engines', '--out', 'engines.md'],
  ['send', 'Engines', 'hello'],
])('a title is no name for %s %s, which says the key', async (...argv) => {
  const parley = await rig()
  await serveDaemon(parley, fakeOperator())
  expect(await parley.run(...argv)).toBe(1)
  expect(parley.err()).toBe(`"Engines" is a title; name the session by its key: ${KEY}\n`)
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
  const list = async () => ({ sessions: [sampleSession], total: 201 })
  const parley = await rig()
  await serveDaemon(parley, fakeOperator({ sessions: { ...fake.sessions, list } }))
  expect(await parley.run('sessions', 'show', 'Workshop › Engines')).not.toBe(0)
  expect(parley.err()).toContain(KEY)
})
