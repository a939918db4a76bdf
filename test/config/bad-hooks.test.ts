import { expect, test } from 'vitest'
import { load, refusal, TELEGRAM } from './loading.ts'

/** Hooks beside a channel that is in order; the line begins after it. */
const TABLE: readonly (readonly [mistake: string, yaml: string, message: string])[] = [
  ['no place', 'hooks: { a: { on: after_turn } }', '2: hooks.a: needs command or url'],
  [
    'two places',
    'hooks: { a: { on: after_turn, command: cat, url: "https://e.org" } }',
    '2: hooks.a: has both command and url or secret; keep one of them',
  ],
  [
    'an address without a signature',
    'hooks: { a: { on: after_turn, url: "https://e.org" } }',
    '2: hooks.a: needs secret, or whoever is called could not know that it is this daemon',
  ],
  [
    'an address without TLS',
    'hooks: { a: { on: after_turn, url: "http://e.org", secret: x } }',
    '2: hooks.a: url must begin with https://, unless it is on this machine',
  ],
  [
    'arguments of an address',
    'hooks: { a: { on: after_turn, url: "https://e.org", secret: x, args: [y] } }',
    '2: hooks.a: args, env and folder belong to a command',
  ],
  [
    'a program that is not there',
    'hooks: { a: { on: after_turn, command: /no/such/program } }',
    '2: hooks.a: there is no file /no/such/program; check the path',
  ],
  [
    'a hook that would hold up every message',
    'hooks: { a: { on: [before_save], command: cat, timeoutMs: 5001 } }',
    '2: hooks.a: timeoutMs must be at most 5000 with before_save: every message waits for it',
  ],
]

test.each(TABLE)('%s is refused', async (_mistake, yaml, message) => {
  expect(await refusal(`${TELEGRAM}${yaml}`)).toContain(message)
})

test('a moment that there is not is refused with the nearest one', async () => {
  expect(await refusal(`${TELEGRAM}hooks: { a: { on: befor_save, command: cat } }`)).toContain(
    '2: hooks.a.on: must be one of session_create, before_save, session_save, session_delete, before_tool, after_turn; did you mean `before_save`?',
  )
  expect(await refusal(`${TELEGRAM}hooks: { a: { on: [after_turn, before_tol], command: cat } }`)).toContain(
    'after_turn; did you mean `before_tool`?',
  )
})

test('an address on this machine needs no TLS, and a secret in the file is warned of', async () => {
  const { config } = await load(
    `${TELEGRAM}hooks: { a: { on: after_turn, url: "http://127.0.0.1:1/", secret: canary } }`,
  )
  expect(config.hooks?.[0]).toMatchObject({ name: 'a', on: ['after_turn'], timeoutMs: 2_000 })
  expect(config.warnings.join()).toContain('hooks.a.secret')
  expect(JSON.stringify(config.hooks)).not.toContain('canary')
})

test('a program gets the few variables that any needs, and none of the daemon’s secrets', async () => {
  const env = { PATH: '/bin', LANG: 'C', TELEGRAM_BOT_TOKEN: 'canary' }
  const { config } = await load(`${TELEGRAM}hooks: { a: { on: after_turn, command: cat, env: { OWN: x } } }`, env)
  const at = config.hooks?.[0]?.at
  expect(Object.keys(at?.kind === 'command' ? at.env : {}).sort()).toEqual(['HOME', 'LANG', 'OWN', 'PATH'])
})

test('a secret that two hooks share is warned about: a call that was kept of one would do for the other', async () => {
  const SHARED = 'a-secret-of-twenty-characters'
  const yaml = `${TELEGRAM}
http: { hooks: { build: { secret: "\${env:ONE}" }, deploy: { secret: "\${env:TWO}" }, alarm: { secret: "\${env:THREE}" } } }
hooks: { archive: { on: session_save, url: "https://e.org", secret: "\${env:FOUR}" } }
`
  const warned = async (env: Readonly<Record<string, string>>) => {
    const { config } = await load(yaml, env)
    return config.warnings.filter((warning) => warning.startsWith('http.hooks'))
  }
  const each = { ONE: `${SHARED}1`, TWO: `${SHARED}2`, THREE: `${SHARED}3`, FOUR: `${SHARED}4` }
  expect(await warned(each)).toEqual([])
  expect(await warned({ ...each, ONE: SHARED, TWO: SHARED, THREE: each.FOUR })).toEqual([
    'http.hooks.deploy.secret: http.hooks.build has the same secret, so whoever keeps a call of the one could send it to the other; give each its own',
    'http.hooks.alarm.secret: hooks.archive has the same secret, so whoever keeps a call of the one could send it to the other; give each its own',
  ])
})

test('T34: a hook that has what another conversation knows said in a group is warned about', async () => {
  const warned = async (sessions: readonly string[], deliverTo: string) => {
    const hook = JSON.stringify({ secret: 'a-secret-of-twenty-characters', sessions, deliverTo })
    const { config } = await load(`${TELEGRAM}http: { hooks: { build: ${hook} } }\n`)
    return config.warnings.filter((warning) => warning.startsWith('http.hooks'))
  }
  expect(await warned([], 'telegram:group:-100')).toEqual([])
  expect(await warned(['telegram:group:-100'], 'telegram:group:-100/42')).toEqual([])
  expect(await warned(['telegram:group:-100'], 'telegram:direct:111')).toEqual([])
  const message = (at: number, session: string) =>
    `http.hooks.build.sessions[${at}]: what the agent answers to a call in ${session} is posted in telegram:group:-100, ` +
    'which is http.hooks.build.deliverTo, and everybody there reads it; keep one of the two'
  const sessions = ['telegram:direct:111', 'telegram:group:-100', 'telegram:group:-200', 'cli:notes']
  expect(await warned(sessions, 'telegram:group:-100')).toEqual([
    message(0, 'telegram:direct:111'),
    message(2, 'telegram:group:-200'),
    message(3, 'cli:notes'),
  ])
})
