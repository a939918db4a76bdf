import { afterEach, expect, test } from 'vitest'
import type { InboundEvent } from '../../../src/core/message.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const { world } = rig.server
  const ada = world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada' })
  world.addUser({ id: 'U444', name: 'bob', displayName: 'Bob the Builder' })
  const office = world.addChannel({ id: 'C0FFICE', name: 'office', members: [ada, 'U444'] })
  await rig.listen()
  const last = (): InboundEvent | undefined => rig.sink.offered.at(-1)
  return { ...rig, world, ada, office, last }
}

test('whom and what a message names has the names that people there read, and a channel its title', async () => {
  const { world, sink, ada, office, last } = await open()
  world.addChannel({ id: 'C0LAB', name: 'lab' })
  world.say({ from: ada, channel: office, text: 'ask <@U444> in <#C0LAB> or <#C0GONE>, <@U0GONE>' })
  await sink.committed(1)
  expect(last()).toMatchObject({
    text: 'ask @Bob the Builder in #lab or <#C0GONE>, <@U0GONE>',
    titles: { chat: 'office' },
    mentions: [
      { kind: 'person', name: 'Bob the Builder', username: 'bob' },
      { kind: 'place', name: 'lab' },
    ],
  })
})

test('a title is asked for once, and follows a rename', async () => {
  const { world, sink, ada, office, last, server } = await open()
  world.say({ from: ada, channel: office, text: 'one' })
  world.say({ from: ada, channel: office, text: 'two' })
  await sink.committed(2)
  world.rename(office, 'workshop')
  world.say({ from: ada, channel: office, text: 'three' })
  await sink.committed(3)
  expect(last()).toMatchObject({ text: 'three', titles: { chat: 'workshop' } })
  expect(server.ledger.calls('conversations.info')).toHaveLength(1)
})

test('a message is as good without names where the platform refuses to say them', async () => {
  const { world, sink, ada, office, last, server } = await open()
  server.faults.add({ method: 'users.info', times: 9, action: { kind: 'error', error: 'internal_error' } } as never)
  server.app.scopes = server.app.scopes.filter((scope) => !/:read$/.test(scope))
  world.say({ from: ada, channel: office, text: 'ask <@U444>' })
  await sink.committed(1)
  expect(last()).toMatchObject({ text: 'ask <@U444>' })
  expect(last()).not.toHaveProperty('titles')
})

test('of many people that a message names a few are looked up', async () => {
  const { world, sink, ada, office, server } = await open()
  const many = Array.from({ length: 30 }, (_, nth) => `<@U9${nth}>`)
  world.say({ from: ada, channel: office, text: many.join(' ') })
  await sink.committed(1)
  expect(server.ledger.calls('users.info')).toHaveLength(7)
})

test('a post through an app with the token of a person is theirs, that of a bot user is the app’s', async () => {
  const { world, sink, ada, office } = await open()
  const robot = world.addUser({ name: 'robot', isBot: true })
  for (const from of [ada, robot])
    world.say({ from, channel: office, text: 'hi', extra: { bot_id: 'B77', app_id: 'A77' } })
  world.say({ from: 'USLACKBOT', channel: office, text: 'Reminder: pay.' })
  await sink.committed(3)
  expect(sink.offered.map(({ sender }) => [sender.kind, sender.displayName])).toEqual([
    ['user', 'Ada'],
    ['bot', 'robot'],
    ['bot', 'Slackbot'],
  ])
})

test('F-H04: whoever is of our organisation has one id in all of its workspaces; nobody else is of ours', async () => {
  const ours = { id: 'E01', teams: ['T01', 'T02'] }
  const { world, sink, office, server } = await open({ server: { app: { enterprise: 'E01' } } })
  const people = [
    world.addUser({ id: 'U1', name: 'colleague', team: 'T02', enterprise: ours }),
    world.addUser({ id: 'U2', name: 'stranger', team: 'T03', enterprise: { id: 'E02', teams: ['T03'] } }),
    world.addUser({ id: 'U3', name: 'other', team: 'T04' }),
  ]
  for (const from of people) world.say({ from, channel: office, text: 'hi' })
  // A message of the same id from a workspace in which our colleague is not.
  world.say({ from: 'U1', channel: office, text: 'hi', extra: { team: 'T09', user_team: 'T09', source_team: 'T09' } })
  await sink.committed(4)
  world.slash({ from: 'U1', channel: office, command: '/parley', text: 'help' })
  world.slash({ from: 'U2', channel: office, command: '/parley', text: 'help' })
  await sink.committed(6)
  const teams = sink.offered.map(({ kind, sender: { id, team } }) => `${kind} ${id} of ${team}`)
  expect(teams.slice(0, 4)).toEqual([
    'message U1 of T01',
    'message U2 of T03',
    'message U3 of T04',
    'message U1 of T09',
  ])
  expect(teams.slice(4).sort()).toEqual(['command U1 of T01', 'command U2 of T03'])
  expect(server.ledger.calls('users.info').length).toBeLessThanOrEqual(3)
})

test('F-H04: outside of an organisation a claim of one is worth nothing', async () => {
  const { world, sink, office, last } = await open()
  const colleague = world.addUser({ name: 'eve', team: 'T02', enterprise: { id: 'E01', teams: ['T01', 'T02'] } })
  world.say({ from: colleague, channel: office, text: 'hi' })
  await sink.committed(1)
  expect(last()?.sender.team).toBe('T02')
})

test('a channel that gets a new id is moved', async () => {
  const { world, sink, office, last } = await open()
  world.changeId(office, 'C0NEW')
  await sink.committed(1)
  expect(last()).toMatchObject({ kind: 'migration', address: { chat: 'C0FFICE' }, to: { chat: 'C0NEW' } })
  world.say({ from: 'U333', channel: 'C0NEW', text: 'still here' })
  await sink.committed(2)
  expect(last()).toMatchObject({ text: 'still here', titles: { chat: 'office' } })
})
