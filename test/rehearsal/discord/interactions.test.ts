import { expect, test } from 'vitest'
import type { DiscordServerOptions } from '../../../src/rehearsal/discord/server.ts'
import { GatewayClient, rehearse, rest } from './rehearsal.ts'

const COMMAND = { name: 'new', description: 'Start afresh', options: [{ type: 3, name: 'input', description: 'x' }] }
const DEFER = { type: 5, data: { flags: 64 } }

async function withCommand(options: DiscordServerOptions = {}) {
  const server = await rehearse(options)
  const ada = server.world.addUser({ username: 'ada' })
  const register = (commands: readonly object[]) =>
    rest(server, 'PUT', `/applications/${server.world.bot.id}/commands`, { body: commands })
  await register([COMMAND])
  const client = new GatewayClient(server)
  await client.identify(server.token)
  await client.dispatch('READY')
  const run = async () => {
    server.world.slash({ from: ada, command: 'new', input: 'now' })
    const { d } = await client.dispatch('INTERACTION_CREATE')
    const { id, token } = d as { id: string; token: string }
    const hook = `/webhooks/${server.world.bot.id}/${token}`
    return {
      d,
      acknowledge: () => rest(server, 'POST', `/interactions/${id}/${token}/callback`, { body: DEFER }),
      edit: (content: string) => rest(server, 'PATCH', `${hook}/messages/@original`, { body: { content } }),
      remove: () => rest(server, 'DELETE', `${hook}/messages/@original`),
      follow: (content: string) => rest(server, 'POST', hook, { body: { content, flags: 64 } }),
    }
  }
  return { server, register, run }
}

test('a slash command comes with its one option, and takes one first answer, edits and further ones', async () => {
  const { server, run } = await withCommand()
  const { d, acknowledge, edit, follow, remove } = await run()
  expect(d).toMatchObject({ type: 2, data: { name: 'new', options: [{ name: 'input', value: 'now' }] }, context: 1 })
  expect(await edit('too early')).toMatchObject({ status: 404, body: { code: 10_015 } })
  expect((await acknowledge()).status).toBe(204)
  expect(await acknowledge()).toMatchObject({ status: 400, body: { code: 40_060 } })
  expect((await edit('done')).status).toBe(200)
  expect((await follow('and more')).status).toBe(200)
  expect((await remove()).status).toBe(204)
  expect(await edit('again')).toMatchObject({ status: 404, body: { code: 10_008 } })
  expect(server.ledger.whispers().map(({ change, text }) => `${change} ${text}`.trim())).toEqual([
    'deferred',
    'edited done',
    'sent and more',
    'deleted',
  ])
})

test('the first answer must come within three seconds, the others within a quarter of an hour', async () => {
  let now = Date.parse('2026-11-21T12:00:00Z')
  const { run } = await withCommand({ now: () => now })
  const late = await run()
  now += 3001
  expect(await late.acknowledge()).toMatchObject({ status: 404, body: { code: 10_062 } })
})

test('an old token is refused', async () => {
  let now = Date.parse('2026-11-21T12:00:00Z')
  const { run } = await withCommand({ now: () => now })
  const { acknowledge, edit } = await run()
  await acknowledge()
  now += 15 * 60_000 + 1
  expect(await edit('late')).toMatchObject({ status: 401, body: { code: 50_027 } })
})

test.each([
  ['upper case', [{ ...COMMAND, name: 'New' }]],
  ['a name of 33 characters', [{ ...COMMAND, name: 'n'.repeat(33) }]],
  ['no description', [{ name: 'new' }]],
  ['one name twice', [COMMAND, COMMAND]],
  ['more than a hundred', Array.from({ length: 101 }, (_, index) => ({ ...COMMAND, name: `n${index}` }))],
  ['an option without a name', [{ ...COMMAND, options: [{ type: 3, description: 'x' }] }]],
])('commands with %s are refused', async (_, commands) => {
  const { register, server } = await withCommand()
  expect(await register(commands)).toMatchObject({ status: 400, body: { code: 50_035 } })
  expect([...server.world.commands.keys()]).toEqual(['new'])
})

test('nobody is offered a command that is not registered', async () => {
  const { server } = await withCommand()
  const bob = server.world.addUser({ username: 'bob' })
  expect(() => server.world.slash({ from: bob, command: 'status' })).toThrow('Nobody is offered /status')
})
