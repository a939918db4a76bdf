import { describe, expect, it } from 'vitest'
import { askingAuthor, furtherAuthors, senderAuthor } from '../../src/core/author.ts'
import type { Dispatch, PostedText } from '../../src/core/dispatch.ts'
import { toPersonId, toSessionId } from '../../src/core/ids.ts'
import type { InboundMessage } from '../../src/core/message.ts'
import { NOBODY, OPERATOR, personAuthor, personOfAuthor } from '../../src/core/platform-id.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { dispatchOf, message, user } from '../fakes/dispatch.ts'
import { routeOf } from '../store/sample-rows.ts'

const BOB = user('444')
const said = (changes: Partial<InboundMessage>): readonly string[] =>
  furtherAuthors(CHANNELS, dispatchOf(message(changes)))
const posted = (changes: Partial<PostedText>, origin: Dispatch['origin'] = 'api'): Dispatch =>
  dispatchOf(message({ sender: user('x') }), {
    origin,
    posted: { session: toSessionId('s'), route: routeOf(1), identity: { role: 'guest' }, ...changes },
  })
const scheduled = (changes: Partial<NonNullable<Dispatch['schedule']>>): Dispatch =>
  dispatchOf(message(), { schedule: { id: 'morning' as never, creator: { role: 'owner' }, ...changes } })

describe('the authors of a message', () => {
  it('an id that many share, a bot and an empty id are nobody', () => {
    expect(senderAuthor(CHANNELS, 'telegram', user('111'))).toBe('telegram:111')
    expect(senderAuthor(CHANNELS, 'slack', user('U333', { team: 'T01' }))).toBe('slack:t01/u333')
    for (const sender of [user('1087968824'), user('9', { kind: 'bot' }), user(' ')])
      expect(senderAuthor(CHANNELS, 'telegram', sender)).toBe(NOBODY)
  })

  it('a plain message has no further author; a bot and an anonymous sender are nobody', () => {
    expect(said({})).toEqual([])
    expect(said({ sender: user('9', { kind: 'bot' }) })).toEqual([NOBODY])
    expect(said({ sender: user('1087968824', { kind: 'anonymous' }) })).toEqual([NOBODY])
  })

  it('whoever is quoted is one; a quote of ours or without text is not shown and adds nobody', () => {
    const quoted = { messageId: '1', text: 'hi', own: false }
    expect(said({ quoted: { ...quoted, sender: BOB } })).toEqual(['telegram:444'])
    expect(said({ quoted })).toEqual([NOBODY])
    expect(said({ quoted: { ...quoted, own: true } })).toEqual([])
    expect(said({ quoted: { messageId: '1', own: false, sender: BOB } })).toEqual([])
  })

  it('whoever is forwarded is one, and who wrote for the sender is nobody', () => {
    expect(said({ forwarded: { from: BOB } })).toEqual(['telegram:444'])
    expect(said({ forwarded: { name: 'A channel' } })).toEqual([NOBODY])
    expect(said({ via: user('9', { kind: 'bot' }) })).toEqual([NOBODY])
  })

  it('a file with a name, or whose content is shown, is nobody’s; one without either adds nobody', () => {
    const media = { type: 'media', media: `media://sha256-${'0'.repeat(64)}`, mime: 'image/png', size: 1 } as never
    expect(said({ attachments: [{ ref: '1', fileName: 'a.pdf' }] })).toEqual([NOBODY])
    expect(said({ attachments: [{ ref: '1', media }] })).toEqual([NOBODY])
    expect(said({ attachments: [{ ref: '1', mime: 'audio/ogg' }] })).toEqual([])
  })

  it('what carries no text has no author', () => {
    const { text: _text, ...reaction } = message()
    const event = { ...reaction, kind: 'reaction', added: [], removed: [] } as never
    expect(furtherAuthors(CHANNELS, dispatchOf(event))).toEqual([])
  })

  it('a quotation with words that its sender need not have written is nobody’s too', () => {
    const quoted = { messageId: '1', own: false, text: 'poll: x', sender: BOB }
    expect(said({ quoted })).toEqual(['telegram:444'])
    expect(said({ quoted: { ...quoted, mixed: true } })).toEqual(['telegram:444', NOBODY])
  })

  it('a digest is nobody’s; a schedule without one adds nobody', () => {
    expect(furtherAuthors(CHANNELS, scheduled({ data: '> a remark' }))).toEqual([NOBODY])
    expect(furtherAuthors(CHANNELS, scheduled({}))).toEqual([])
  })

  it('a hook and a client that is no person are nobody', () => {
    expect(furtherAuthors(CHANNELS, posted({ from: { hook: 'door' } }))).toEqual([NOBODY])
    expect(furtherAuthors(CHANNELS, posted({}))).toEqual([NOBODY])
    expect(furtherAuthors(CHANNELS, posted({ participant: 'person:ada' }))).toEqual([])
  })
})

describe('who asks', () => {
  it('is the sender, the creator of a schedule, a client’s person, or the operator', () => {
    expect(askingAuthor(CHANNELS, dispatchOf(message({ sender: BOB })))).toBe('telegram:444')
    expect(askingAuthor(CHANNELS, scheduled({}))).toBe(OPERATOR)
    expect(askingAuthor(CHANNELS, scheduled({ creator: { role: 'member', person: toPersonId('bob') } }))).toBe(
      'person:bob',
    )
    expect(askingAuthor(CHANNELS, posted({ participant: 'person:ada' }))).toBe('person:ada')
    expect(askingAuthor(CHANNELS, posted({}, 'operator'))).toBe(OPERATOR)
    expect(askingAuthor(CHANNELS, posted({}))).toBe(NOBODY)
  })

  it('is nobody known behind a hook, and is left open behind another session', () => {
    expect(askingAuthor(CHANNELS, posted({ from: { hook: 'door' } }))).toBe(NOBODY)
    const from = { session: toSessionId('s2'), displayKey: 'main', agent: routeOf(1).agent, hops: 1 }
    expect(askingAuthor(CHANNELS, posted({ from }))).toBeUndefined()
  })

  it('a person is named and found again', () => {
    expect(personOfAuthor(personAuthor(toPersonId('ada')))).toBe('ada')
    expect(personOfAuthor('telegram:111')).toBeUndefined()
  })
})
