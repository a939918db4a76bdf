import { expect, it } from 'vitest'
import { toAgentId, toPersonId } from '../../src/core/ids.ts'
import { formatCursor } from '../../src/core/list-cursor.ts'
import { NAMESPACE_SCOPES } from '../../src/core/token.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startApiHouse } from '../e2e/api-house.ts'
import { recorded } from '../e2e/household.ts'
import { toolResult } from '../e2e/obedient.ts'
import { owner } from '../fakes/routing-policy.ts'

const at = (name: string, rest = ''): string => `/v1/sessions/${encodeURIComponent(name)}${rest}`

/** Reads whatever conversation it is told to. */
const reading: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says ${result}`)
  const [, sessionKey] = /read (\S+)$/.exec(lastUserText(request)) ?? []
  if (sessionKey === undefined) return textReply('heard')
  return { blocks: [{ type: 'tool_use', name: 'sessions_history', input: { sessionKey } }] }
}
const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions'] }

it('S42, T6: an owner’s words in a session bring nothing there that the holder of a token for it could not read', async () => {
  const house = await startApiHouse({ script: reading, streaming: false, config: { agents: [agent] } })
  house.telegram.world.say({ from: 111, text: 'the code is 4711' })
  await house.telegram.ledger.nextFromBot('sent')
  const { sessions, tokens } = house.daemon.operator
  const ask = async () => (await sessions.post('api:desk', { text: 'read telegram:direct:111' })) as { reply?: string }
  await sessions.post('api:desk', { text: 'hello' })
  expect((await ask()).reply).toContain('4711')
  await sessions.post('api:other', { text: 'read api:desk' })
  const { id } = await house.bearer({ namespace: 'api', scopes: ['sessions:read'] })
  const { reply } = await ask()
  expect(reply).toContain('not everybody who sees what is answered here')
  expect(reply).not.toContain('4711')
  expect((await sessions.post('api:other', { text: 'read api:desk' })) as object).toMatchObject({
    reply: expect.stringContaining('hello'),
  })
  await tokens.revoke(id)
  expect((await ask()).reply).toContain('4711')
})

it('S42, K46: a session that joins the chats of a person is in the namespace of none of their channels', async () => {
  const people = [owner('ada', 'telegram:111')]
  const house = await startApiHouse({ routing: { people, direct: 'person' } })
  house.telegram.world.say({ from: 111, text: 'hello' })
  await house.telegram.ledger.nextFromBot('sent')
  const { sessions } = house.daemon.operator
  const { id } = await sessions.show('direct:ada')
  expect(id).toMatch(/^person:/)
  const { headers } = await house.bearer({ namespace: 'telegram', scopes: NAMESPACE_SCOPES })
  for (const name of [id, 'direct:ada', 'telegram:direct:111', 'agent:main:direct:ada'])
    expect([name, (await house.ask(at(name), { headers })).status]).toEqual([name, 404])
  expect((await house.ask('/v1/sessions?inactive=true', { headers })).json).toMatchObject({ total: 0 })
  house.telegram.world.say({ from: 111, text: '/new' })
  await house.telegram.ledger.nextFromBot('sent', { where: ({ text }) => !text.startsWith('echo') })
  house.telegram.world.say({ from: 111, text: 'again' })
  await house.telegram.ledger.nextFromBot('sent', { where: ({ text }) => text === 'echo again' })
  expect((await sessions.show('direct:ada')).id).toMatch(/^person:/)
})

it('T34: the token of a node lists, reads and follows the one session that it has', async () => {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ namespace: 'node-desk', scopes: ['nodes', 'sessions:read'] })
  const other = await house.bearer({ namespace: 'node-des', scopes: ['sessions:read'] })
  const post = await house.ask('/v1/nodes/desk/messages', { headers, body: { text: 'one' } })
  expect(post.json).toMatchObject({ status: 'ok' })
  const list = async (bearer = headers) => (await house.ask('/v1/sessions', { headers: bearer })).json
  expect(await list()).toMatchObject({ total: 1, sessions: [{ id: 'node-desk' }] })
  expect(await list(other.headers)).toMatchObject({ total: 0 })
  const stream = await fetch(`http://127.0.0.1:${house.port()}/v1/events`, { headers })
  const reader = (stream.body ?? expect.unreachable()).pipeThrough(new TextDecoderStream()).getReader()
  await house.ask('/v1/nodes/desk/messages', { headers, body: { text: 'two' } })
  let heard = ''
  while (!heard.includes('echo two')) heard += (await reader.read()).value ?? expect.unreachable()
  await reader.cancel()
  expect(heard).toContain('"session":"node-desk"')
})

it('F-H09: a cursor that names a session of somebody else says nothing of whether it is there', async () => {
  const house = await startApiHouse()
  const { sessions } = house.daemon.operator
  await sessions.post('cli:secret', { text: 'hello' })
  await sessions.post('api:own', { text: 'hello' })
  await recorded(house)
  const { headers } = await house.bearer({ namespace: 'api' })
  const { updatedAt: lastActivityAt } = await sessions.show('api:own')
  const behind = async (name: string) => {
    const cursor = formatCursor({ at: lastActivityAt, id: name as never })
    return (await house.ask(`/v1/sessions?cursor=${cursor}`, { headers })).json
  }
  expect(await behind('cli:secret')).toEqual(await behind('cli:nothing'))
  expect(await behind('api:own')).toMatchObject({ sessions: [] })
})

it('S7: what a token changes is on record in the log by its id, and what the operator does is not', async () => {
  const house = await startApiHouse({
    routing: { people: [{ id: toPersonId('bob'), role: 'member', ids: ['api:bob'] }] },
  })
  const { id, headers } = await house.bearer({ owner: true })
  await house.daemon.operator.sessions.post('api:desk', { text: 'hello' })
  await house.ask(at('api:desk'), { method: 'PATCH', headers, body: { sendPolicy: 'deny' } })
  await house.ask(at('api:none'), { method: 'DELETE', headers })
  await house.ask(at('api:desk'), { headers })
  const lines = house.log.lines.filter(({ sentence }) => sentence === 'A token has asked for a change')
  expect(lines.map(({ fields: { by, method, path, status } }) => [by, method, path, status])).toEqual([
    [`token:ply_${id}`, 'PATCH', '/v1/sessions/api%3Adesk', 200],
    [`token:ply_${id}`, 'DELETE', '/v1/sessions/api%3Anone', 404],
  ])
})

it('S42: a session that a token begins without a name is in its namespace', async () => {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ namespace: 'api:shop' })
  const { status, json } = await house.ask('/v1/sessions', { headers, body: {} })
  expect([status, json]).toMatchObject([200, { id: expect.stringMatching(/^api:shop:[0-9a-f-]{36}$/) }])
})

it('S42, T6: a token that can only read has the agent read nothing in the name of people of its namespace', async () => {
  const house = await startApiHouse({ script: reading, streaming: false, config: { agents: [agent] } })
  const { sessions, tokens } = house.daemon.operator
  await sessions.post('api:desk', { text: 'the code is 4711' })
  house.telegram.world.say({ from: 111, text: 'hello' })
  await house.telegram.ledger.nextFromBot('sent')
  const ask = async () => JSON.stringify(await sessions.post('telegram:direct:111', { text: 'read api:desk' }))
  expect(await ask()).toContain('4711')
  const listener = await house.bearer({ namespace: 'telegram', scopes: ['sessions:read'] })
  expect(await ask()).not.toContain('4711')
  await tokens.revoke(listener.id)
  // It could ask in the owner's name itself.
  await house.bearer({ namespace: 'telegram', scopes: ['sessions:read', 'sessions:write'] })
  expect(await ask()).toContain('4711')
})
