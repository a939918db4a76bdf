import { describe, expect, test } from 'vitest'
import { presentTitles, sessionTitle, titleOf } from '../../src/core/titles.ts'

describe('titleOf', () => {
  test.each([
    ['a name', 'Workshop', 'Workshop'],
    ['several lines', ' Work\n\u0000shop\t', 'Work shop'],
    ['nothing', ' \n', undefined],
    ['no text', 42, undefined],
    ['80 characters', 'x'.repeat(80), 'x'.repeat(80)],
    ['more', 'x'.repeat(500), `${'x'.repeat(79)}…`],
    ['half a pair at the cut', `${'x'.repeat(78)}👍${'x'.repeat(9)}`, `${'x'.repeat(78)}…`],
  ])('of %s', (_, given, title) => {
    expect(titleOf(given)).toBe(title)
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
