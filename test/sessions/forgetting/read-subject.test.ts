import { expect, it } from 'vitest'
import type { Decision } from '../../../src/core/dispatch.ts'
import type { InboundCommand, InboundMessage } from '../../../src/core/message.ts'
import type { MessageLink } from '../../../src/core/message-link.ts'
import { readSince, readWords } from '../../../src/sessions/forgetting/asked-words.ts'
import { type ChatSubjectPorts, subjectOf } from '../../../src/sessions/forgetting/read-subject.ts'
import type { InboxRow } from '../../../src/store/inbox-port.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { commandCall } from '../../fakes/command-call.ts'
import { direct, dispatchOf, group, message, user } from '../../fakes/dispatch.ts'

const NOW = Date.UTC(2026, 10, 26, 12)
const BOB = { sender: user('444') }

type Row = Pick<InboxRow, 'outcome'> & { readonly decision?: Partial<Decision> }

const row = (id: string, changes: Partial<InboundMessage> = {}, more: Partial<Row> = {}): InboxRow =>
  ({
    ...{ id, dispatch: dispatchOf(message(changes)), decision: { kind: 'run', identity: { role: 'member' } } },
    ...more,
  }) as unknown as InboxRow

/** The rows of a chat, and what somebody in it asks to be forgotten. */
async function subject(args: string, rows: readonly InboxRow[], by: Partial<InboundCommand> = {}) {
  const asked: (string | MessageLink)[] = []
  const ports: ChatSubjectPorts = {
    ...{
      channels: CHANNELS,
      zoneOf: () => 'UTC',
      readLink: () => null,
      idsOf: async () => [],
      whoIs: () => ({ role: 'guest' }),
    },
    store: {
      read: { forgetting: { latestTime: async () => 0 }, inbox: { recent: async () => [] } },
    } as unknown as ChatSubjectPorts['store'],
    findMessages: async (named) => {
      asked.push(named)
      return rows
    },
    lastMessage: async (_place, isMeant) => rows.findLast(isMeant),
  }
  return { ...(await subjectOf(commandCall('forget', args, by), ports)), asked }
}

const refused = (code: string) => expect.objectContaining({ code })

it('S41: a number is a message of this chat, a command where there is no other, and not what was forgotten or the request itself', async () => {
  const found = await subject('5', [row('in_1')])
  expect(found).toMatchObject({ kind: 'message', rows: ['in_1'] })
  expect(found.asked).toMatchObject([{ channel: 'telegram', chat: '-100', messageId: '5' }])
  const control = { decision: { kind: 'control', identity: { role: 'owner' } } } as Partial<Row>
  expect(await subject('5', [row('in_1', {}, control)])).toMatchObject({ rows: ['in_1'] })
  await expect(subject('5', [row('in_1', {}, { outcome: 'forgotten' })])).rejects.toEqual(refused('not_found'))
  // Another bot may keep for longer what has gone here for its age.
  expect(await subject('5', [row('in_1', {}, { outcome: 'aged' })])).toMatchObject({ rows: ['in_1'] })
  const { inboxId } = commandCall('forget', '5')
  expect(await subject('5', [row(inboxId, {}, control), row('in_2')])).toMatchObject({ rows: ['in_2'] })
})

it('S41: a member has their own message forgotten, and learns of no other chat whether one is there', async () => {
  expect(await subject('5', [row('in_1', BOB)], BOB)).toMatchObject({ rows: ['in_1'] })
  await expect(subject('5', [row('in_1')], BOB)).rejects.toEqual(refused('forbidden'))
  await expect(subject('5', [row('in_1', BOB), row('in_2')], BOB)).rejects.toEqual(refused('forbidden'))
  const elsewhere = row('in_1', { address: group('-200') })
  await expect(subject('in_1', [elsewhere], BOB)).rejects.toEqual(refused('not_found'))
  expect(await subject('in_1', [elsewhere])).toMatchObject({ rows: ['in_1'] })
  expect(await subject('in_1', [row('in_1', { ...BOB, address: group('-200') })], BOB)).toMatchObject({
    rows: ['in_1'],
  })
})

it.each([
  ['deleted', { kind: 'delete', original: 'e1' }],
  ['reacted to', { kind: 'reaction', added: ['👍'], removed: [] }],
])('S41: a member has their own message forgotten that somebody else has %s', async (_, about) => {
  const { address, messageId } = message()
  const event = { ...about, eventKey: 'e2', address, messageId, sender: user('999'), sentAt: 1 } as never
  const theirs = { ...row('in_2'), dispatch: dispatchOf(event) }
  expect(await subject('5', [theirs, row('in_1', BOB)], BOB)).toMatchObject({ rows: ['in_1'] })
  await expect(subject('5', [theirs], BOB)).rejects.toEqual(refused('not_found'))
})

it('S41: the last message is the last own one that is not forgotten yet', async () => {
  const rows = [
    row('in_1', BOB),
    row('in_2', BOB, { outcome: 'forgotten' }),
    row('in_3'),
    row('in_4', BOB, { outcome: 'aged' }),
  ]
  expect(await subject('last', rows, BOB)).toMatchObject({ rows: ['in_1'] })
  expect(await subject('last', rows)).toMatchObject({ rows: ['in_3'] })
  await expect(subject('last', rows.slice(1, 2), BOB)).rejects.toEqual(refused('not_found'))
})

it('S41: of a group is meant what any of our bots has heard, of a direct chat what the one of it has', async () => {
  for (const args of ['chat', '2h', 'me here'])
    expect(await subject(args, [])).toMatchObject({ place: expect.not.objectContaining({ account: 'default' }) })
  expect(await subject('chat', [], { address: direct('111') })).toMatchObject({ place: { account: 'default' } })
})

it('S41: a chat is forgotten by an owner, and by a member in private where no other chat shares the session', async () => {
  const alone = { ...BOB, address: direct('444') }
  expect(await subject('chat', [])).toMatchObject({ kind: 'chat', place: { chat: '-100' } })
  expect(await subject('chat', [], alone)).toMatchObject({ kind: 'chat', place: { chat: '444' } })
  await expect(subject('chat', [], BOB)).rejects.toEqual(refused('forbidden'))
  const call = commandCall('forget', 'chat', alone)
  const { route } = call.decision
  const shared = { ...route, scope: { ...route.scope, dimensions: [], values: {} } }
  const ports = {
    channels: CHANNELS,
    zoneOf: () => 'UTC',
    store: { read: { forgetting: { latestTime: async () => 0 } } },
  } as never
  const joined = { ...call, decision: { ...call.decision, route: shared } }
  await expect(subjectOf(joined, ports)).rejects.toEqual(refused('forbidden'))
})

it('S41: somebody whom no id tells apart has nothing forgotten', async () => {
  const channel = { sender: user('-100', { kind: 'anonymous' }) }
  await expect(subject('me', [], channel)).rejects.toEqual(refused('forbidden'))
})

it('S41: a request names whom or what, a span and whether it is confirmed', () => {
  const words = (args: string) => readWords(args, { now: NOW, zone: 'UTC' })
  expect(words('me here 2h yes')).toEqual({ named: 'me', here: true, confirmed: true, since: NOW - 7_200_000 })
  expect(words('1d12h')).toEqual({ named: '', here: false, confirmed: false, since: NOW - 36 * 3_600_000 })
  expect(words('chat since 2026-11-20 08:30')).toMatchObject({ named: 'chat', since: Date.UTC(2026, 10, 20, 8, 30) })
  const berlin = { now: NOW, zone: 'Europe/Berlin' }
  expect(readWords('since 2026-11-20', berlin)).toMatchObject({ since: Date.UTC(2026, 10, 19, 23) })
  // The command line asks for the day alone, and its error names the whole.
  expect(readSince('since 2026-11-20', berlin)).toBe(readSince('2026-11-20', berlin))
  // Alone it is the chat, as it is with a span.
  expect(words('here 2h')).toMatchObject({ named: 'here', here: false })
  for (const bad of ['since', 'since yesterday', 'since 2026-13-01']) expect(() => words(bad)).toThrow(/Give me a span/)
  expect(() => words('since 2026-11-27')).toThrow(/has not come yet/)
})

it('S41: what begins like a span is no name, for whoever asks', async () => {
  for (const by of [{}, BOB])
    for (const args of ['2x', '2 hours', '30min yes'])
      await expect(subject(args, [], by)).rejects.toThrow('Give me a span such as `2h`')
})

it.each([
  ['telegram:group:-100123', 'is a chat and no person'],
  ['telegram:-100123', 'is a chat and no person'],
  ['telegram:1087968824', 'stands for many people'],
  ['telegram:0444', "can be nobody's id"],
  ['slack:t01/C0123', "can be nobody's id"],
])('S41: of %s an owner is not told that nothing is left: nothing can be of it', async (named, why) => {
  const asked = subject(named, [], { sender: user('111') })
  await expect(asked).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(why) })
})

it.each(['TELEGRAM:444', 'discord:444', 'slack:T01/U0123', 'web:ann', 'person:ann'])(
  'S41: %s is an id of somebody',
  async (named) => {
    expect(await subject(named, [], { sender: user('111') })).toMatchObject({ kind: 'person' })
  },
)
