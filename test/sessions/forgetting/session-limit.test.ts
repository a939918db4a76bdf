import { expect, it } from 'vitest'
import { type Address, parseAddress } from '../../../src/core/address.ts'
import type { RetentionSettings } from '../../../src/core/retention.ts'
import type { Session } from '../../../src/core/session.ts'
import { compileAgeLimits } from '../../../src/routing/age-limits.ts'
import { limitOfSession } from '../../../src/sessions/forgetting/session-limit.ts'
import type { StoreReader } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { sessionDraft } from '../../store/sample-rows.ts'

const SPACE = { channel: 'discord', space: 'G1' }
const RULES = [
  { match: { channel: 'telegram', chat: '-1' }, days: 30 },
  { match: { channel: 'telegram', chat: '-2' }, days: 20 },
  { match: { channel: 'telegram', chat: '-3' }, days: 'keep' as const },
  { match: SPACE, days: 40 },
]

/** Returns the limit, in days, of a session in which something was said in these chats, and last in the first. */
async function limitOf(
  chats: readonly string[],
  {
    dimensions = [],
    rules = RULES,
    metadata = {},
    received = [],
    moved = {},
    type = 'user_message',
    kind,
  }: Settings = {},
) {
  const said = chats.map((chat, at) => {
    const data = { chat, messageId: `${at}` }
    return { seq: at + 1, at, type, data: type === 'thread_read' ? { messages: [data] } : data }
  })
  const since = async (_: string, after: number) => said.filter(({ seq }) => seq > after).slice(0, 200)
  const inSession = async (_: string, messageId: string) => {
    const rest = received[Number(messageId)]
    return rest
      ? [{ dispatch: { event: { address: { ...parseAddress(chats[Number(messageId)] ?? ''), ...rest } } } }]
      : []
  }
  const read = { events: { since }, inbox: { inSession } } as unknown as Pick<StoreReader, 'events' | 'inbox'>
  const draft = sessionDraft(1)
  const [, channel = '', chatType = '', chat = ''] = /^(\w+):(\w+):(.+)$/.exec(chats[0] ?? '') ?? []
  const place = { channel, account: 'default', chat_id: chat, chat_type: chatType, ...metadata }
  const session = {
    ...draft,
    scope: { ...draft.scope, dimensions },
    metadata: place,
    ...(kind && { source: { kind } }),
  } as unknown as Session
  const moves = {
    formerChat: (_: string, chat: string) => Object.keys(moved).find((from) => moved[from] === chat),
    follow: (address: Address) => ({ ...address, chat: moved[address.chat] ?? address.chat }),
  }
  return (await limitOfSession(read, compileAgeLimits({ days: 10, rules }, CHANNELS, moves), session))?.days
}

interface Settings {
  /** Of the source of the session. */
  readonly kind?: 'schedule'
  readonly type?: 'user_message' | 'message_edited' | 'thread_read'
  readonly dimensions?: readonly string[]
  readonly rules?: RetentionSettings['rules']
  readonly metadata?: Readonly<Record<string, string>>
  /** What the record of each message says of its address besides, where there is one. */
  readonly received?: readonly Partial<Address>[]
  /** The present ids of chats that have got a new one. */
  readonly moved?: Readonly<Record<string, string>>
}

const [A, B, KEPT, OTHER] = ['-1', '-2', '-3', '-4'].map((chat) => `telegram:group:${chat}`) as [
  string,
  string,
  string,
  string,
]

it('S41: the longest limit of its chats is that of a session that joins them, wherever was spoken last', async () => {
  expect(await limitOf([A, B, OTHER])).toBe(30)
  expect(await limitOf([OTHER, B, A])).toBe(30)
  expect(await limitOf([OTHER])).toBe(10)
  expect(await limitOf([B, 'nowhere'])).toBe(20)
  expect(await limitOf([OTHER, ...Array<string>(450).fill(B)])).toBe(20)
})

it('S41: what a rule keeps is kept with the chats whose session it shares', async () => {
  expect(await limitOf([A, KEPT])).toBeUndefined()
  expect(await limitOf([KEPT, A])).toBeUndefined()
})

it('S41: a schedule has the limit of the chat to which it delivers, whatever its messages name', async () => {
  expect(await limitOf([B, KEPT, A], { kind: 'schedule' })).toBe(20)
})

it('S41: a session of one chat has the limit of that chat, whatever its messages name', async () => {
  expect(await limitOf([B, KEPT], { dimensions: ['chat'] })).toBe(20)
})

it('S41: the guild of the last chat stands for the others of its platform, which no message names', async () => {
  const [last, other] = ['discord:channel:5', 'discord:channel:6']
  expect(await limitOf([last, other], { metadata: { space: 'guild:G1' } })).toBe(40)
  expect(await limitOf([last, other, 'discord:direct:222'], { metadata: { space: 'guild:G1' } })).toBe(40)
  expect(await limitOf([last, other])).toBe(10)
})

it('S41: each chat has the guild in which it was received, whatever that of the last one is', async () => {
  const [last, kept] = ['discord:channel:5', 'discord:channel:6']
  const rules = [{ match: { channel: 'discord', space: 'G2' }, days: 'keep' as const }]
  const received = [{}, { space: { type: 'guild', id: 'G2' } }]
  const metadata = { space: 'guild:G1' }
  expect(await limitOf([last, kept], { rules, metadata, received })).toBeUndefined()
  expect(await limitOf([last, kept], { rules, metadata })).toBe(10)
})

it('S41: the workspace of an account is not that of another account', async () => {
  const rules = [{ match: { channel: 'slack', space: 'T1' }, days: 40 }]
  const other = 'slack@second:channel:C2'
  expect(await limitOf(['slack:channel:C1', other], { rules, metadata: { space: 'team:T1' } })).toBe(40)
  const own = { account: 'second', space: 'team:T1', chat_id: 'C3' }
  const chats = ['slack:channel:C3', 'slack:channel:C1']
  expect(
    await limitOf(chats, { rules: [{ match: { space: 'T1', account: 'default' }, days: 40 }], metadata: own }),
  ).toBe(10)
})

it('S41: a topic that is kept is kept with the chats whose session it shares, also where the last was another', async () => {
  const rules = [{ match: { channel: 'telegram', chat: '-1', topic: '42' }, days: 'keep' as const }]
  expect(await limitOf([OTHER, A], { rules, received: [{}, { topic: '42' }] })).toBeUndefined()
  expect(await limitOf([OTHER, A, A], { rules, received: [{}, {}, { topic: '42' }] })).toBeUndefined()
  expect(await limitOf([OTHER, A], { rules, received: [{}, { topic: '43' }] })).toBe(10)
})

it('S41: what was said before a group got a new id is kept by a rule that names either', async () => {
  for (const chat of ['-1', '-1001'])
    expect(
      await limitOf([OTHER, A], {
        rules: [{ match: { channel: 'telegram', chat }, days: 'keep' as const }],
        moved: { '-1': '-1001' },
      }),
    ).toBeUndefined()
})

it('S41: a direct chat is in no guild, and what was read in a thread or edited was said in its chat', async () => {
  const rules = [{ match: SPACE, days: 5 }]
  const guild = { metadata: { space: 'guild:G1' }, rules }
  expect(await limitOf(['discord:channel:5', 'discord:channel:6'], guild)).toBe(5)
  expect(await limitOf(['discord:channel:5', 'discord:direct:222'], guild)).toBe(10)
  for (const type of ['thread_read', 'message_edited'] as const)
    expect(await limitOf([A, KEPT], { type })).toBeUndefined()
})
