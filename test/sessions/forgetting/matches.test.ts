import { expect, it } from 'vitest'
import { type Address, parseAddress } from '../../../src/core/address.ts'
import type { UserMessageData } from '../../../src/core/event.ts'
import type { ForgetTarget } from '../../../src/core/forgetting.ts'
import { type InboxId, type SessionId, toAccountId, toPersonId } from '../../../src/core/ids.ts'
import { matchesOf } from '../../../src/sessions/forgetting/matches.ts'
import { isSaidIn, type LogOrigin } from '../../../src/sessions/forgetting/origin.ts'
import { OwnQuotes, OwnTexts, ownName } from '../../../src/sessions/forgetting/own-quotes.ts'
import type { ReceivedRow } from '../../../src/store/forget-port.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { command, dispatchOf, group, message, user } from '../../fakes/dispatch.ts'

const [HERE, ELSEWHERE] = ['telegram:here', 'telegram:elsewhere'] as SessionId[]
const SUPER = '-1001000000001'
const OTHER_BOT = toAccountId('second')
const PLACE = { channel: 'telegram', chat: '-100' } as const

const origin = (changes: Partial<LogOrigin> = {}): LogOrigin => ({
  ...{ upTo: 100, session: HERE as SessionId, log: HERE as SessionId, address: group(), joined: false, heldIn: [] },
  ...changes,
})
const said = (changes: Partial<UserMessageData> = {}): UserMessageData => ({
  ...{ text: 'hello', messageId: 'm1', sender: user('111'), owner: false, addressed: false, triggers: false },
  ...changes,
})
const row = (changes: Partial<ReceivedRow> = {}): ReceivedRow =>
  ({
    ...{
      no: 1,
      id: 'in_1',
      sessionId: HERE,
      dispatch: dispatchOf(message()),
      decision: { identity: { role: 'member' } },
    },
    ...changes,
  }) as ReceivedRow

const matches = (target: Partial<ForgetTarget> & Pick<ForgetTarget, 'kind'>, rows: readonly ReceivedRow[] = []) =>
  matchesOf({ before: 100, ...target } as ForgetTarget, { rows }, CHANNELS)

const MESSAGE = { kind: 'message', rows: ['in_1' as InboxId] } as const
const PERSON = { kind: 'person', ids: ['telegram:111'], person: toPersonId('ada') } as const
const CHAT = { kind: 'chat', place: PLACE } as const

it('S41: a message is meant by its row, or by its number, its sender and the session it was said in', () => {
  const { isMessage } = matches(MESSAGE, [row()])
  expect(isMessage(said({ row: 'in_1' as InboxId, messageId: 'another' }), 1, origin())).toBe(true)
  expect(isMessage(said(), 1, origin())).toBe(true)
  expect(isMessage(said({ messageId: 'm2' }), 1, origin())).toBe(false)
  expect(isMessage(said({ sender: user('444') }), 1, origin())).toBe(false)
  expect(isMessage(said(), 1, origin({ session: ELSEWHERE as SessionId }))).toBe(false)
})

it('S41: in a log that joins chats a message is meant by its chat too, by the bot and by the id that it has now', () => {
  const named = (chat: string) => said({ chat })
  const { isMessage } = matches(MESSAGE, [row()])
  expect(isMessage(named('telegram:group:-100'), 1, origin())).toBe(true)
  expect(isMessage(named('telegram:group:-200'), 1, origin())).toBe(false)
  expect(isMessage(named('nowhere'), 1, origin())).toBe(false)
  expect(isMessage(named('telegram@second:group:-100'), 1, origin())).toBe(false)
  expect(isMessage(named('discord:group:-100'), 1, origin())).toBe(false)
  const moves = [{ channel: 'telegram', from: '-100', to: '-300', at: 50 }]
  const moved = matchesOf({ ...MESSAGE, before: 100 }, { rows: [row()], moves }, CHANNELS)
  expect(moved.isMessage(named('telegram:group:-100'), 1, origin())).toBe(true)
})

it('S41: what was received is meant where number, chat, account and sender are those of the message', () => {
  const { isReceived } = matches(MESSAGE, [row()])
  const of = (changes: Parameters<typeof message>[0]) => isReceived(row({ dispatch: dispatchOf(message(changes)) }))
  expect(of({})).toBe(true)
  expect(of({ messageId: 'm2' })).toBe(false)
  expect(of({ sender: user('444') })).toBe(false)
  expect(of({ address: group('-200') })).toBe(false)
  expect(isReceived(row({ dispatch: dispatchOf(command('forget', { messageId: 'm1' })) }))).toBe(true)
})

/** Returns true for a message that another bot has received, beside the one that is meant. */
function isOneByOtherBot(chat: string, changes: Parameters<typeof message>[0], where: object = {}): boolean {
  const { isReceived } = matches(MESSAGE, [row({ dispatch: dispatchOf(message({ address: group(chat) })) })])
  const address = group(chat, { account: OTHER_BOT, ...where })
  return isReceived(row({ id: 'in_2' as InboxId, dispatch: dispatchOf(message({ address, ...changes })) }))
}

it('S41: another bot has received the same message of a group if number, writer and time are the same', () => {
  const of = (changes: Parameters<typeof message>[0], where: object = {}) => isOneByOtherBot(SUPER, changes, where)
  expect(of({ text: 'as another bot is shown it' })).toBe(true)
  for (const other of [{ messageId: 'm2' }, { sender: user('444') }, { sentAt: 1 }]) expect(of(other)).toBe(false)
  expect([of({}, { chatType: 'direct' }), of({}, { chat: '-200' })]).toEqual([false, false])
})

it('S41: in a small group, where each bot counts by itself, it is the same if writer, time and all of its content are', () => {
  const of = (changes: Parameters<typeof message>[0]) => isOneByOtherBot('-100', { messageId: 'm2', ...changes })
  expect(of({})).toBe(true)
  const others: Parameters<typeof message>[0][] = [
    { messageId: 'm1', text: 'no' },
    { attachments: [{ ref: 'f', size: 7 }] },
    { enclosed: ['a contact: Bob'] },
    { forwarded: { from: user('555') } },
    { via: user('900', { kind: 'bot' }) },
    { sender: user('444') },
    { sentAt: 1 },
  ]
  for (const other of others) expect(of(other)).toBe(false)
  const { isReceived } = matches(MESSAGE, [row()])
  expect(isReceived(row({ dispatch: dispatchOf(message({ messageId: 'm2' })) }))).toBe(false)
})

it('S41: a quotation of a message is one of the same number in the same chat, by another bot one of the same writer', () => {
  const { quotes } = matches(MESSAGE, [row()])
  const quoted = { messageId: 'm1', text: 'hello', own: false, sender: user('444') }
  expect(quotes({ quoted }, group(), 1)).toBe(true)
  expect(quotes({ quoted: { ...quoted, messageId: 'm2' } }, group(), 1)).toBe(false)
  expect(quotes({ quoted }, group('-200'), 1)).toBe(false)
  expect(quotes({ quoted }, group('-100', { account: OTHER_BOT }), 1)).toBe(false)
  const theirs = { ...quoted, sender: user('111') }
  expect(quotes({ quoted: theirs }, group('-100', { account: OTHER_BOT }), 1)).toBe(true)
  expect(quotes({ quoted: theirs }, group('-100', { account: OTHER_BOT, chatType: 'direct' }), 1)).toBe(false)
  expect(quotes({ quoted }, undefined, 1)).toBe(false)
  const copy = message({ address: group('-100', { account: OTHER_BOT }), messageId: 'm2' })
  const both = matches(MESSAGE, [row(), row({ dispatch: dispatchOf(copy) })])
  const ofOther = (messageId: string) => both.quotes({ quoted: { ...theirs, messageId } }, copy.address, 1)
  expect([ofOther('m1'), ofOther('m2')]).toEqual([false, true])
})

it('S41: a person’s words are quoted or passed on by whoever shows their id as the sender', () => {
  const { quotes } = matches(PERSON)
  const quoted = { messageId: 'm1', text: 'hello', own: false }
  expect(quotes({ quoted: { ...quoted, sender: user('111') } }, group(), 1)).toBe(true)
  expect(quotes({ forwarded: { text: 'hello', from: user('111') } }, group(), 1)).toBe(true)
  expect(quotes({ quoted: { ...quoted, sender: user('444') } }, group(), 1)).toBe(false)
  // The same id is somebody else on another platform.
  expect(quotes({ quoted: { ...quoted, sender: user('111') } }, group('C1', { channel: 'slack' }), 1)).toBe(false)
  // A chat that is forgotten takes whole messages.
  expect(matches(CHAT).quotes({ quoted: { ...quoted, sender: user('111') } }, group(), 1)).toBe(false)
})

it('S41: a person’s words are those under their ids, or by name where no platform has ids, in the span and the place', () => {
  const { isMessage, isReceived } = matches({ ...PERSON, since: 10 })
  expect([9, 10, 99, 100].map((at) => isMessage(said(), at, origin()))).toEqual([false, true, true, false])
  const renamed = { sender: user('999'), person: toPersonId('ada') }
  expect(isMessage(said(renamed), 50, origin())).toBe(false)
  const local = group('home', { channel: 'api' })
  expect(isMessage(said(renamed), 50, origin({ address: local }))).toBe(true)
  expect(isMessage(said({ sender: user('999') }), 50, origin())).toBe(false)
  const here = matches({ ...PERSON, place: PLACE })
  expect(here.isMessage(said(), 50, origin())).toBe(true)
  expect(here.isMessage(said(), 50, origin({ address: group('-200') }))).toBe(false)
  const decision = { identity: { role: 'owner', person: toPersonId('ada') } } as ReceivedRow['decision']
  const asAda = (origin: 'platform' | 'schedule', address?: Address) => {
    const event = message({ sender: user('999'), ...(address ? { address } : {}) })
    return isReceived(row({ decision, dispatch: dispatchOf(event, { origin, receivedAt: 50 }) }))
  }
  expect([asAda('platform', local), asAda('platform'), asAda('schedule', local)]).toEqual([true, false, false])
})

it('S41: a chat is what was said in it, and what has been continued there', () => {
  const at = (changes: Partial<LogOrigin>, chat?: string) =>
    isSaidIn(PLACE, origin(changes), chat === undefined ? undefined : parseAddress(chat))
  expect(at({})).toBe(true)
  expect(at({ address: group('-200') })).toBe(false)
  expect(at({ address: group('-200'), heldIn: [group()] })).toBe(true)
  // A session that joins chats is in none of them: its messages say where each was said.
  expect(at({ joined: true })).toBe(false)
  expect(at({ joined: true }, 'telegram:group:-100')).toBe(true)
  expect(at({ joined: true }, 'telegram:group:-200')).toBe(false)
  const topic: Address = group('-100', { topic: '7' })
  expect(isSaidIn({ ...PLACE, topic: '7' }, origin({ address: topic }))).toBe(true)
  expect(isSaidIn({ ...PLACE, topic: '8' }, origin({ address: topic }))).toBe(false)
  // Such a message names no topic: what was received there says which goes with it.
  expect(isSaidIn({ ...PLACE, topic: '7' }, origin({ joined: true }), group())).toBe(false)
  const target = { ...CHAT, before: 100, place: { ...PLACE, topic: '7' } }
  const { isMessage } = matchesOf(target, { received: new Set([ownName(group(), 'm1')]) }, CHANNELS)
  expect(['m1', 'm2'].map((messageId) => isMessage(said({ messageId }), 1, origin()))).toEqual([true, false])
  expect(matches(CHAT).isWhole(50, origin())).toBe(true)
  expect(matches(PERSON).isWhole(50, origin())).toBe(false)
})

/** A message of ours, number 5, that goes. */
function going(address: Address): OwnTexts {
  const own = new OwnTexts(CHANNELS)
  own.add({ address, messageId: '5', at: 50 })
  return own
}

it('S41: a quotation of ours is known by bot, chat and number', () => {
  const quotes = new OwnQuotes<number>()
  const quoted = { messageId: '5', text: 'mine', own: true }
  const note = (key: number, changes: object, at: Address | undefined = group()) =>
    quotes.note(key, { quoted: { ...quoted, ...changes }, chat: at, at: 50 })
  note(1, {})
  note(2, {}, group('-100', { account: OTHER_BOT }))
  note(3, {}, group('-200'))
  note(4, { messageId: '6' })
  note(5, { own: false })
  note(6, { text: undefined })
  expect(quotes.among(going(group()), [])).toEqual([1])
  // Before the chat got its id, its messages had the numbers of the older one.
  const move = { channel: group().channel, from: '-7', to: group().chat, at: 100 }
  expect(quotes.among(going(group()), [move])).toEqual([])
  expect(quotes.among(going(group('-7')), [move])).toEqual([1])
  expect(quotes.among(going(group()), [{ ...move, at: 50 }])).toEqual([1])
})

it('S41: a quotation of a bot may be of another one of ours, in the same group', () => {
  const quotes = new OwnQuotes<number>()
  const quoted = { messageId: '5', text: 'mine', own: false, sender: user('900', { kind: 'bot' }) }
  const beside = { account: OTHER_BOT }
  quotes.note(1, { quoted, chat: group('-100', beside), at: 50 })
  quotes.note(2, { quoted, chat: group('-200', beside), at: 50 })
  quotes.note(3, { quoted: { ...quoted, sender: user('111') }, chat: group('-100', beside), at: 50 })
  quotes.note(4, { quoted, chat: group('-100', { ...beside, chatType: 'direct' }), at: 50 })
  expect(quotes.among(going(group()), [])).toEqual([1])
})
