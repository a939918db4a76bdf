import { expect, it } from 'vitest'
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
async function limitOf(chats: readonly string[], { dimensions = [], rules = RULES, metadata = {} }: Settings = {}) {
  const said = chats.map((chat, at) => ({ seq: at + 1, at, type: 'user_message', data: { chat } }))
  const since = async (_: string, after: number) => said.filter(({ seq }) => seq > after).slice(0, 200)
  const read = { events: { since } } as unknown as Pick<StoreReader, 'events'>
  const draft = sessionDraft(1)
  const [, channel = '', chatType = '', chat = ''] = /^(\w+):(\w+):(.+)$/.exec(chats[0] ?? '') ?? []
  const place = { channel, account: 'default', chat_id: chat, chat_type: chatType, ...metadata }
  const session = { ...draft, scope: { ...draft.scope, dimensions }, metadata: place } as unknown as Session
  return (
    await limitOfSession(
      read,
      compileAgeLimits({ days: 10, rules }, CHANNELS, () => undefined),
      session,
    )
  )?.days
}

interface Settings {
  readonly dimensions?: readonly string[]
  readonly rules?: typeof RULES
  readonly metadata?: Readonly<Record<string, string>>
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
  expect(await limitOf([OTHER, ...Array<string>(450).fill(B)])).toBe(20)
})

it('S41: what a rule keeps is kept with the chats whose session it shares', async () => {
  expect(await limitOf([A, KEPT])).toBeUndefined()
  expect(await limitOf([KEPT, A])).toBeUndefined()
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
