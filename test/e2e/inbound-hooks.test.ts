import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { InboundHookSettings } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import { parseAddress } from '../../src/core/address.ts'
import { DOORS } from '../../src/core/doors.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type ApiHouse, startApiHouse, tokenWith } from './api-house.ts'
import type { HouseholdOptions } from './household.ts'
import { setClock } from './set-clock.ts'

const SECRET = 'a secret of the build'
const hook = (more: Partial<InboundHookSettings> = {}): InboundHookSettings => ({
  ...{ name: 'build', secret: new Secret(SECRET), signature: 'parley', sessions: [] },
  ...more,
})
const DELIVERS = parseAddress('telegram:direct:111')

function startHouse(hooks: readonly InboundHookSettings[], options: HouseholdOptions = {}): Promise<ApiHouse> {
  return startApiHouse({ ...options, http: { hooks } })
}

function signed(body: string, { at = Date.now(), secret = SECRET } = {}): Record<string, string> {
  const made = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  return { 'x-parley-timestamp': String(at), 'x-parley-signature': `v1=${made}` }
}

const github = (body: string, secret = SECRET) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

const call = (house: ApiHouse, body: string, headers: Readonly<Record<string, string>>, path = '/v1/hooks/build') =>
  house.ask(path, { method: 'POST', headers, body })

/** Resolves with the answer in the session once its turn has ended. */
async function answerIn(house: ApiHouse, session: string): Promise<string> {
  for (;;) {
    const { status, events } = await house.daemon.operator.sessions.show(session)
    const answer = events.find(({ type }) => type === 'assistant_message')
    if (status === 'idle' && answer) return answer.text
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const counted = async (house: ApiHouse) =>
  (await house.daemon.operator.sessions.list({ limit: 200, offset: 0, inactive: true })).total

it('T34: POST /v1/hooks/<name> opens hook:<uuid>, whose agent reads the call as data, and the answer is delivered', async () => {
  const house = await startHouse([hook({ prompt: 'Say what broke.', deliverTo: DELIVERS })])
  const token = await tokenWith(house, ['hooks'])
  // A bot may write first to nobody.
  const before = house.telegram.ledger.mark()
  house.telegram.world.say({ from: 111, text: 'hello' })
  await house.telegram.ledger.nextFromBot('sent', { after: before })
  const mark = house.telegram.ledger.mark()
  const { status, json } = await call(house, '{"red":true}', { ...token, ...signed('{"red":true}') })
  expect([status, json]).toEqual([
    202,
    { runId: expect.any(String), session: expect.stringMatching(/^hook:[0-9a-f-]{36}$/), status: 'accepted' },
  ])
  const sent = await house.telegram.ledger.nextFromBot('sent', { after: mark })
  expect(sent.text).toContain('Say what broke.')
  const { session } = json as { readonly session: string }
  const shown = await house.daemon.operator.sessions.show(session)
  expect(shown).toMatchObject({ kind: 'hook', source: { kind: 'hook' }, participants: [], messages: 2 })
  expect(await answerIn(house, session)).toBe('echo Say what broke.\n\n[message from hook build]\n> {"red":true}')
})

it('T34: a hook without a place to deliver to answers in its session alone', async () => {
  const house = await startHouse([hook()])
  const token = await tokenWith(house, ['hooks'], 'ci')
  const { json } = await call(house, 'hi', { ...token, ...signed('hi') })
  await answerIn(house, (json as { readonly session: string }).session)
  expect(house.telegram.world.messages(111, { by: 'bot' })).toEqual([])
})

it('T34: a call goes to a session of the list alone, and by its token no further than the namespace', async () => {
  const house = await startHouse([hook({ sessions: ['cli:builds', 'telegram:direct:111'] })])
  await house.daemon.operator.sessions.post('cli:builds', { text: 'hello' })
  await house.daemon.operator.sessions.post('cli:secret', { text: 'hello' })
  const [owner, own] = [await tokenWith(house, ['hooks']), await tokenWith(house, ['hooks'], 'cli')]
  const to = async (session: string, token: Readonly<Record<string, string>>) =>
    call(house, session, { ...token, ...signed(session) }, `/v1/hooks/build?session=${session}`)
  expect((await to('cli:builds', owner)).json).toMatchObject({ status: 'accepted', session: 'cli:builds' })
  for (const [session, token] of [
    ['cli:secret', owner],
    ['cli:none', owner],
    ['telegram:direct:111', own],
    ['cli:builds', await tokenWith(house, ['hooks'], 'api')],
  ] as const)
    expect([session, (await to(session, token)).status]).toEqual([session, 404])
  expect((await house.daemon.operator.sessions.show('cli:secret')).messages).toBe(2)
  expect(await counted(house)).toBe(2)
})

it('F-K05: a call with a wrong, old or used signature does nothing, and no name is told from another', async () => {
  const house = await startHouse([hook()])
  const token = await tokenWith(house, ['hooks'])
  const stale = Date.now() - 301_000
  const wrong: readonly [string, Readonly<Record<string, string>>][] = [
    ['none', {}],
    ['another secret', signed('x', { secret: 'b' })],
    ['another body', signed('y')],
    ['old', signed('x', { at: stale })],
    ['of tomorrow', signed('x', { at: Date.now() + 86_400_000 })],
    ['without its time', { 'x-parley-signature': signed('x')['x-parley-signature'] ?? '' }],
    ['of another form', github('x')],
  ]
  for (const [what, headers] of wrong)
    expect([what, (await call(house, 'x', { ...token, ...headers })).status]).toEqual([what, 401])
  expect((await call(house, 'x', { ...token, ...signed('x') }, '/v1/hooks/other')).status).toBe(404)
  for (const id of ['', 'a b', 'x'.repeat(201)])
    expect((await call(house, 'x', { ...token, ...signed('x'), 'idempotency-key': id })).status).toBe(400)
  expect(await counted(house)).toBe(0)
  const once = signed('x')
  expect((await call(house, 'x', { ...token, ...once })).status).toBe(202)
  expect((await call(house, 'x', { ...token, ...once })).status).toBe(409)
  expect((await call(house, 'x', { ...token, ...once, 'idempotency-key': 'new' })).status).toBe(409)
  expect(await counted(house)).toBe(1)
})

it('F-K01: without a token a signature of ours opens nothing, whatever the name', async () => {
  const house = await startHouse([hook(), hook({ name: 'git', signature: 'github' })])
  const answers = [
    await call(house, 'x', signed('x')),
    await call(house, 'x', signed('x'), '/v1/hooks/other'),
    await call(house, 'x', github('x', 'wrong'), '/v1/hooks/git'),
    await call(house, 'x', {}, '/v1/hooks/git'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers[0]?.text).toContain('The signature is missing or wrong: is the secret the same at both ends?')
  expect((await call(house, 'x', { ...(await tokenWith(house, ['chat'])), ...signed('x') })).status).toBe(403)
})

it('F-K07: whoever calls often without a token and a signature is told to wait, and a right call is not', async () => {
  const house = await startHouse([hook({ signature: 'github' })])
  const seen: number[] = []
  for (let at = 0; at < 25; at++) seen.push((await call(house, 'x', github('y'))).status)
  expect(seen).toEqual([...Array(20).fill(401), ...Array(5).fill(429)])
  expect((await call(house, 'x', github('x'))).status).toBe(202)
})

it('T34: a call of one id has one effect, however often it comes, also after a restart', async () => {
  const house = await startHouse([hook({ name: 'git', signature: 'github' })])
  const headers = {
    ...github('{}'),
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-github-event': 'push',
  }
  const push = () => call(house, '{}', headers, '/v1/hooks/git')
  const all = await Promise.all([push(), push(), push(), push()])
  expect(all.map(({ status }) => status)).toEqual([202, 202, 202, 202])
  const [{ session }] = all.map(({ json }) => json as { readonly session: string }) as [{ readonly session: string }]
  expect(await answerIn(house, session)).toContain('> event: push')
  await house.restart()
  expect((await push()).json).toMatchObject({ session, status: 'repeated' })
  expect((await house.daemon.operator.sessions.show(session)).messages).toBe(2)
  expect(await counted(house)).toBe(1)
  const keyed = { ...github('{"second":1}'), 'idempotency-key': 'second' }
  const token = await tokenWith(house, ['hooks'])
  for (const [headers, status] of [
    [{ ...keyed, ...token }, 'accepted'],
    [{ ...keyed, ...token }, 'repeated'],
    [keyed, 'repeated'],
  ] as const)
    expect((await call(house, '{"second":1}', headers, '/v1/hooks/git')).json).toMatchObject({ status })
})

it('T34: an id that was used names no other call: another body, event or session is a conflict, and begins nothing', async () => {
  const house = await startHouse([
    hook({ sessions: ['cli:builds', 'cli:tests'] }),
    hook({ name: 'git', signature: 'github' }),
  ])
  for (const name of ['cli:builds', 'cli:tests']) await house.daemon.operator.sessions.post(name, { text: 'hello' })
  const token = await tokenWith(house, ['hooks'])
  const own = (body: string, session = 'cli:builds') =>
    call(
      house,
      body,
      { ...token, ...signed(body), 'idempotency-key': 'one' },
      `/v1/hooks/build?session=${encodeURIComponent(session)}`,
    )
  const delivery = { 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' }
  const push = (body: string, event = 'push') =>
    call(house, body, { ...github(body), ...delivery, 'x-github-event': event }, '/v1/hooks/git')
  expect((await own('red')).json).toMatchObject({ status: 'accepted' })
  expect((await push('{"a":1}')).json).toMatchObject({ status: 'accepted' })
  const others = [
    await own('green'),
    await own('red', 'cli:tests'),
    await push('{"a":2}'),
    await push('{"a":1}', 'ping'),
  ]
  expect(others.map(({ status, json }) => [status, json])).toEqual(
    others.map(() => [409, { error: { code: 'conflict', message: expect.any(String) } }]),
  )
  expect((await own('red')).json).toMatchObject({ status: 'repeated' })
  expect((await push('{"a":1}')).json).toMatchObject({ status: 'repeated' })
  expect(await counted(house)).toBe(3)
})

it('T31: what a hook delivers obeys the send policy', async () => {
  const sendPolicy = { rules: [{ match: { channel: 'telegram' }, action: 'deny' as const }], default: 'allow' as const }
  const house = await startHouse([hook({ deliverTo: DELIVERS })], { routing: { sendPolicy } })
  const token = await tokenWith(house, ['hooks'])
  const { json } = await call(house, 'x', { ...token, ...signed('x') })
  const { runId } = json as { readonly runId: string }
  const [why] = await house.daemon.operator.why(runId)
  expect(why?.outcome).toContain('send_policy')
  expect(house.telegram.world.messages(111, { by: 'bot' })).toEqual([])
})

it('C29: what a call brings is bounded, and without the secrets of the configuration', async () => {
  const canary = 'canary-4711-of-the-hook'
  const house = await startHouse([hook({ agent: toAgentId('main') })], { config: { secrets: [new Secret(canary)] } })
  const token = await tokenWith(house, ['hooks'])
  const body = `${canary} ${'a'.repeat(40_000)}`
  const { json } = await call(house, body, { ...token, ...signed(body) })
  const answer = await answerIn(house, (json as { readonly session: string }).session)
  expect(answer).not.toContain(canary)
  expect(answer).toContain('(cut: 32000 of ')
  const alerts = JSON.stringify({ alerts: Array(20_000).fill({ labels: { alertname: 'Down', instance: 'a:9100' } }) })
  expect((await call(house, alerts, { ...token, ...signed(alerts) })).status).toBe(202)
  const long = { ...token, ...signed('x'), 'content-length': String(DOORS.hook.bytes + 1) }
  expect((await call(house, 'x', long)).status).toBe(413)
})

it('T34: GitHub’s form is signed as it is sent, read as the JSON in it, and answered once, with a ping and by any type', async () => {
  const house = await startHouse([hook({ name: 'git', signature: 'github' })])
  const json = '{"zen":"Größe + ☕"}'
  const body = `payload=${encodeURIComponent(json)}`
  const headers = { ...github(body), 'content-type': 'application/x-www-form-urlencoded', 'x-github-event': 'ping' }
  const first = await call(house, body, headers, '/v1/hooks/git')
  expect([first.status, first.json]).toEqual([202, expect.objectContaining({ status: 'accepted' })])
  const { session } = first.json as { readonly session: string }
  expect(await answerIn(house, session)).toContain(`> event: ping\n> ${json}`)
  expect((await call(house, body, headers, '/v1/hooks/git')).json).toMatchObject({ session, status: 'repeated' })
  for (const type of [
    'nonsense',
    'application/json;;charset',
    '',
    'application/vnd.x+json; charset=klingon',
    'image/png',
  ])
    expect([
      type,
      (await call(house, `{"${type}":1}`, { ...github(`{"${type}":1}`), 'content-type': type }, '/v1/hooks/git'))
        .status,
    ]).toEqual([type, 202])
})

it('T34: webhook-id names a call, as Idempotency-Key does', async () => {
  const house = await startHouse([hook()])
  const token = await tokenWith(house, ['hooks'])
  const own = async (at: number) =>
    (await call(house, '{}', { ...token, ...signed('{}', { at }), 'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' }))
      .json
  const now = Date.now()
  const first = await own(now)
  expect([first, await own(now - 1_000)]).toEqual([
    expect.objectContaining({ status: 'accepted' }),
    { ...(first as object), status: 'repeated' },
  ])
})

it('F-K05: calls that are refused are in the log by the name of their hook, once a minute, and unknown names are not', async () => {
  const house = await startHouse([hook({ name: 'git', signature: 'github' }), hook()])
  const token = await tokenWith(house, ['hooks'])
  for (let at = 0; at < 9; at++) await call(house, 'x', github('x', 'wrong'), '/v1/hooks/git')
  for (let at = 0; at < 3; at++) await call(house, 'x', github('x'), '/v1/hooks/none')
  await call(house, 'x', { ...token, ...signed('x', { secret: 'wrong' }) })
  const told = house.log.lines.filter(({ sentence }) => sentence.startsWith('A call of a hook was refused'))
  expect(told.map(({ fields }) => fields.hook)).toEqual(['git', 'build'])
  expect(JSON.stringify(told)).not.toContain(SECRET)
})

it('T34: a node has one session, node-<id>, which its token alone and an owner reach', async () => {
  const house = await startApiHouse()
  const own = await tokenWith(house, ['nodes', 'sessions:read'], 'node-kitchen')
  const say = (id: string, text: string, headers: Readonly<Record<string, string>>) =>
    house.ask(`/v1/nodes/${id}/messages`, { method: 'POST', headers, body: JSON.stringify({ text }) })
  expect((await say('kitchen', 'one', own)).json).toMatchObject({
    status: 'ok',
    session: 'node-kitchen',
    reply: 'echo one',
  })
  expect((await say('kitchen', 'two', own)).json).toMatchObject({ reply: 'echo two' })
  for (const id of ['cellar', 'kitchen2', 'Kitchen', 'kitchen%2f..'])
    expect([id, (await say(id, 'hi', own)).status]).toEqual([id, 404])
  const owner = await tokenWith(house, ['nodes', 'sessions:read'])
  expect((await say('cellar', 'hi', owner)).json).toMatchObject({ session: 'node-cellar' })
  expect((await say('Cellar', 'hi', owner)).status).toBe(400)
  const history = (name: string) => house.ask(`/v1/sessions/${name}/history`, { headers: own })
  expect((await history('node-kitchen')).json).toMatchObject({ session: 'node-kitchen' })
  expect((await history('node-cellar')).status).toBe(404)
  expect(await house.daemon.operator.sessions.show('node-kitchen')).toMatchObject({ kind: 'node', messages: 4 })
})

it('F-K05: a call of GitHub that somebody has kept begins nothing, whatever id it gets, a week later or once its run was deleted', async () => {
  const clock = setClock('2026-11-26T12:00:00Z')
  const house = await startHouse([hook({ name: 'git', signature: 'github' })], { clock })
  const push = (id: string) =>
    call(house, '{"a":1}', { ...github('{"a":1}'), 'x-github-delivery': id }, '/v1/hooks/git')
  const { json } = await push('first')
  const { session } = json as { readonly session: string }
  await answerIn(house, session)
  for (const [day, id] of [
    ['03', 'second'],
    ['05', 'first'],
  ] as const) {
    clock.set(`2026-12-${day}T12:00:00Z`)
    expect((await push(id)).json).toMatchObject({ session, status: 'repeated' })
  }
  expect(await counted(house)).toBe(1)
  await house.daemon.operator.sessions.delete(session)
  clock.set('2026-12-10T12:00:00Z')
  for (const id of ['first', 'third']) expect((await push(id)).status).toBe(409)
  // The row of the call ages out in the end.
  await house.daemon.stop()
  withDatabase(join(house.dataDir, 'parley.db'), (database) => database.exec('DELETE FROM inbox'))
  await house.restart()
  for (const id of ['first', 'fourth']) expect((await push(id)).status).toBe(409)
  expect(await counted(house)).toBe(0)
})

it('T34: an id that was used days ago and comes with other words is another call, whose words are not lost', async () => {
  const clock = setClock('2026-11-26T12:00:00Z')
  const house = await startHouse([hook()], { clock })
  const token = await tokenWith(house, ['hooks'])
  const own = async (body: string) =>
    (await call(house, body, { ...token, ...signed(body, { at: clock.now() }), 'idempotency-key': 'nightly' })).json
  expect(await own('monday')).toMatchObject({ status: 'accepted' })
  clock.set('2026-11-28T12:00:00Z')
  const { session, status } = (await own('tuesday')) as { readonly session: string; readonly status: string }
  expect([status, await answerIn(house, session)]).toEqual(['accepted', expect.stringContaining('tuesday')])
})
