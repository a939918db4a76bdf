import { expect, it } from 'vitest'
import { type Address, formatAddress, parseAddress } from '../../../src/core/address.ts'
import type { SessionEvent } from '../../../src/core/event.ts'
import type { InboxId, TurnId } from '../../../src/core/ids.ts'
import { SEND_FILE } from '../../../src/core/send-file.ts'
import type { Session } from '../../../src/core/session.ts'
import { roomOf } from '../../../src/sessions/turns/room-of.ts'
import { type TakingBack, takeBackLast } from '../../../src/sessions/turns/take-back.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'

const HERE = parseAddress('telegram:group:-1')
const SENDER = { address: HERE, sender: { id: '111', kind: 'user' } }
const taking = {
  ...{ command: 7 as unknown as InboxId, identity: { person: 'ada', role: 'owner' }, event: SENDER },
} as unknown as TakingBack
const saidIn = (address: Address, elsewhere?: 'only') =>
  ({ dispatch: { origin: 'platform', event: SENDER, reply: { address, elsewhere } }, decision: taking }) as const
const ROW = saidIn(HERE)
type Row = typeof ROW | { readonly dispatch: object; readonly decision: object }

const event = (type: SessionEvent['type'], turnId: string, data: object = {}): SessionEvent =>
  ({ type, seq: 1, at: 0, ...(turnId === '' ? {} : { turnId }), data }) as unknown as SessionEvent
const answered = (turn: string, more: object = {}) => event('turn_completed', turn, { outcome: 'answered', ...more })

interface Asked {
  readonly row?: Row
  /** Those of some turns. */
  readonly rows?: Readonly<Record<string, Row>>
  readonly by?: object
  /** The turn that is being forgotten. */
  readonly leaving?: string
  /** The turn that was imported: nobody here has asked for it. */
  readonly imported?: string
}

/** Returns the outcome for a log, and the turn whose answer is taken out of the chat. */
async function takenBack(log: readonly SessionEvent[], asked: Asked = {}) {
  const by = { ...taking, ...asked.by } as TakingBack
  const tx = {
    events: {
      latestOf: async (_: string, types: readonly string[]) => log.filter(({ type }) => types.includes(type)),
      latestSummary: async () => undefined,
    },
    turns: { running: async () => [] },
    forgetting: { isForgetting: async (turn: TurnId) => turn === asked.leaving },
    inbox: {
      waiting: async () => [],
      ofTurn: async (turn: string) => (turn === asked.imported ? [] : [asked.rows?.[turn] ?? asked.row ?? ROW]),
    },
  } as unknown as StoreWriter
  const found: TurnId[] = []
  const unsay = async (_: StoreWriter, turn: TurnId): Promise<boolean> => {
    found.push(turn)
    return false
  }
  const ports = {
    ...{ channels: CHANNELS, unsay, closeIfOver: () => undefined, whoIs: () => ({ role: 'guest' }) as const },
    roomOf: (address: Address) => roomOf({ channels: CHANNELS, moves: { follow: (one) => one } }, address),
  }
  const taken = await takeBackLast(tx, { id: 's' } as Session, 0, { taking: by, ports })
  return { found: found[0], taken }
}

it('C23: a turn in which the agent was not asked is no exchange', async () => {
  expect((await takenBack([answered('one'), answered('two')])).found).toBe('two')
  expect((await takenBack([answered('one'), answered('two', { unasked: true })])).found).toBe('one')
})

it.each(['telegram:group:-2', 'telegram:group:-1/7', 'telegram@second:group:-1', 'slack:group:-1'])(
  'C23: what was said elsewhere in a session that joins chats is taken back there alone: %s',
  async (place) => {
    const log = [answered('one'), answered('two')]
    const elsewhere = saidIn(parseAddress(place))
    expect((await takenBack(log, { rows: { two: elsewhere } })).found).toBe('one')
    expect((await takenBack(log, { row: elsewhere })).taken).toEqual({ kind: 'nothing' })
  },
)

it('C23: what was said in a thread is taken back in its channel too, and what a program has asked for anywhere', async () => {
  const [channel, thread] = ['slack:channel:C1', 'slack:channel:C1/1.5'].map(parseAddress) as [Address, Address]
  const by = { event: { ...SENDER, address: channel } }
  expect((await takenBack([answered('one')], { by, row: saidIn(thread) })).found).toBe('one')
  expect((await takenBack([answered('one')], { row: saidIn(thread, 'only') })).found).toBe('one')
})

it('S41: a turn that is being forgotten is no exchange', async () => {
  expect((await takenBack([answered('one'), answered('two')], { leaving: 'two' })).found).toBe('one')
  expect((await takenBack([answered('one')], { leaving: 'one' })).taken).toEqual({ kind: 'nothing' })
})

it('C23: what was there before the log was replaced is not taken back', async () => {
  const replaced = event('history_boundary', '', { kind: 'replaced' })
  expect((await takenBack([answered('one'), replaced])).taken).toEqual({ kind: 'nothing' })
  expect((await takenBack([answered('one'), event('history_boundary', '', { kind: 'truncated' })])).found).toBe('one')
  expect((await takenBack([answered('one'), replaced, answered('two')])).found).toBe('two')
})

it('C23: what was said in another conversation before the log was continued here is not taken back', async () => {
  const continued = event('history_taken_over', '', { from: 'another', events: 1 })
  expect((await takenBack([answered('one'), continued])).taken).toEqual({ kind: 'nothing' })
  expect((await takenBack([answered('one'), continued, answered('two')])).found).toBe('two')
})

it('C23: an imported exchange is not taken back, nor is one before it', async () => {
  const log = [answered('one'), answered('two')]
  expect((await takenBack(log, { imported: 'two' })).taken).toEqual({ kind: 'nothing' })
})

it('C23: a command is in the room of its chat as that is called now, without its thread', () => {
  const moves = { follow: (address: Address): Address => ({ ...address, chat: '-100' }) }
  const room = (address: string) => formatAddress(roomOf({ channels: CHANNELS, moves }, parseAddress(address)))
  expect(room('telegram:group:-1/7')).toBe('telegram:group:-100/7')
  expect(room('slack:channel:-1/7')).toBe('slack:channel:-100')
})

it('S41: a turn of which nothing is left is no exchange', async () => {
  const forgotten = { ...answered('two'), forgotten: true } as SessionEvent
  expect((await takenBack([answered('one'), forgotten])).found).toBe('one')
})

it('C23: a tool stays done, unless it changes nothing, has sent a file here or its call was denied', async () => {
  const call = (callId: string, tool: string, kind = 'once') => event('tool_call', 'one', { callId, tool, class: kind })
  const log = [
    ...[
      call('1', 'pay'),
      call('2', 'send_message'),
      call('3', 'web_fetch', 'pure'),
      call('4', 'pay'),
      call('6', SEND_FILE),
    ],
    event('tool_result', 'one', { callId: '2', denied: true }),
    event('tool_call', 'two', { callId: '5', tool: 'of another turn', class: 'once' }),
    event('exchange_taken_back', '', { turn: 'one', command: 7 }),
  ]
  expect((await takenBack(log)).taken).toMatchObject({ kind: 'repeated', outside: ['pay'] })
})

const MEMBER = { identity: { role: 'member' } }

it('C23: nobody but the owner takes back what was asked by no single person, and what no person has asked', async () => {
  const log = [answered('one')]
  expect((await takenBack(log, { by: MEMBER, row: { ...ROW, decision: MEMBER } })).found).toBe('one')
  // The same name stands for all who write under it.
  const group = { ...SENDER, sender: { id: '-100', kind: 'channel' } }
  const shared = { dispatch: { ...ROW.dispatch, event: group }, decision: MEMBER }
  expect((await takenBack(log, { by: { ...MEMBER, event: group }, row: shared })).taken).toEqual({ kind: 'others' })
  // A schedule, and a text that another session has posted, name somebody whose words they are not.
  const scheduled = { dispatch: { ...ROW.dispatch, origin: 'cron' }, decision: MEMBER }
  const posted = { dispatch: { ...ROW.dispatch, posted: { session: 's' } }, decision: MEMBER }
  for (const row of [scheduled, posted]) {
    expect((await takenBack(log, { by: MEMBER, row })).taken).toEqual({ kind: 'others' })
    expect((await takenBack(log, { row })).found).toBe('one')
  }
})
