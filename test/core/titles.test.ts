import { describe, expect, test } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { addressTitle, presentTitles, sessionTitle, titleOf, withTitle } from '../../src/core/titles.ts'

describe('titleOf', () => {
  test.each([
    ['a name', 'Workshop', 'Workshop'],
    ['several lines', ' Work\n\u0000shop\t', 'Work shop'],
    ['a session key', 'telegram:direct:111', 'telegram direct 111'],
    ['the name of the main session', 'Main', 'name: Main'],
    ['a node', 'node-7', 'name: node-7'],
    ['a link', '[click](https://evil.example)', 'click (https //evil.example)'],
    ['code marks', '`x` ```y', 'x y'],
    ['nothing visible', '\u3164\u2800\u200B\u2063\u00AD', undefined],
    ['a turned direction', 'a\u202Eb', 'ab'],
    ['a lone surrogate', '\uD83D', undefined],
    ['nothing', ' \n', undefined],
    ['no text', 42, undefined],
    ['80 characters', 'x'.repeat(80), 'x'.repeat(80)],
    ['more', 'x'.repeat(500), `${'x'.repeat(79)}…`],
    ['half a pair at the cut', `${'x'.repeat(78)}👍${'x'.repeat(9)}`, `${'x'.repeat(78)}…`],
  ])('of %s', (_, given, title) => {
    expect(titleOf(given)).toBe(title)
    // Adapters keep titles and read them again with each message.
    expect(titleOf(title)).toBe(title)
  })
})

describe('presentTitles', () => {
  test('leaves out what is not given, and all of it where nothing is', () => {
    expect(presentTitles({ chat: 'Club', topic: undefined, topicBegan: null })).toEqual({ titles: { chat: 'Club' } })
    expect(presentTitles({ chat: undefined, topic: '', topicBegan: 7 })).toEqual({})
  })

  test('leaves out the name a topic began with where its present name is known', () => {
    expect(presentTitles({ chat: 'Club', topic: 'Rowing', topicBegan: 'Boats' })).toEqual({
      titles: { chat: 'Club', topic: 'Rowing' },
    })
  })
})

describe('sessionTitle', () => {
  const key = 'telegram:group:-100/42'
  test.each([
    ['group', { chat_title: 'Club' }, 'Club'],
    ['group', { chat_title: 'Club', topic_id: '42', topic_title: 'Rowing' }, 'Club › Rowing'],
    ['channel', { chat_title: 'office', topic_id: '17.1' }, 'office › thread 17.1'],
    ['group', { topic_id: '42', topic_title: 'Rowing' }, key],
    ['direct', { person_name: 'Ada', chat_title: 'Club' }, 'Ada'],
    ['direct', {}, key],
  ] as const)('of a %s with %j is %s', (chatType, metadata, title) => {
    expect(sessionTitle({ displayKey: key, chatType, metadata })).toBe(title)
  })
})

describe('addressTitle', () => {
  const about = { channel: 'telegram', account: 'default', chat_id: '-100', chat_title: 'Club', person_name: 'Ada' }
  const rowing = { ...about, topic_id: '42', topic_title: 'Rowing' }
  test.each([
    ['telegram:group:-100', about, 'Club'],
    ['telegram:group:-100/42', rowing, 'Club › Rowing'],
    ['telegram:group:-100/43', rowing, 'Club › thread 43'],
    ['telegram:direct:-100', about, 'Ada'],
    ['telegram:group:-200', about, undefined],
    ['telegram@second:group:-100', about, undefined],
    ['slack:group:-100', about, undefined],
    ['telegram:group:-100', { ...about, chat_title: undefined }, undefined],
  ])('of %s by %j is %s', (address, metadata, title) => {
    expect(addressTitle(parseAddress(address), metadata as Record<string, string>)).toBe(title)
  })

  test('stands before the address, which stands alone where there is none', () => {
    const address = parseAddress('telegram:group:-100/42')
    expect([withTitle(address, 'Club › Rowing'), withTitle(address, undefined)]).toEqual([
      '`Club › Rowing` (telegram:group:-100/42)',
      'telegram:group:-100/42',
    ])
  })
})
