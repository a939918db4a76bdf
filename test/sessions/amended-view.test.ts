import { describe, expect, it } from 'vitest'
import type { ChatType } from '../../src/core/address.ts'
import { amended } from '../../src/core/amended.ts'
import type { UserMessageData } from '../../src/core/event.ts'
import type { InboxId, TurnId } from '../../src/core/ids.ts'
import type { MessageName } from '../../src/core/message.ts'
import { EMPTY_VIEW, extendView, requestMessages } from '../../src/sessions/view/model-view.ts'
import { said } from '../fakes/said.ts'
import { eventLog, userMessage } from '../fakes/session-events.ts'

const LIMITS = { turns: 9, dropTurns: 1, contextMessages: 9, contextCharacters: 200 }

function talk() {
  const log = eventLog()
  return {
    ...log,
    say: (messageId: string, text: string, more: Partial<UserMessageData> = {}) =>
      log.user(text, { messageId, ...more }),
    edit: (messageId: string, text: string, more: Partial<UserMessageData> = {}) =>
      log.add({ type: 'message_edited', data: userMessage(text, { messageId, triggers: false, ...more }) }),
    remove: (messageId: string, more: MessageName = {}) =>
      log.add({ type: 'message_deleted', data: { messageId, ...more } }),
    texts(chat: ChatType = 'group') {
      const view = extendView(EMPTY_VIEW, log.events, chat, LIMITS)
      return requestMessages(view, chat).messages.map(said)
    },
  }
}

describe('an edit', () => {
  it('of a waiting message changes what the turn reads', () => {
    const log = talk()
    log.say('1', 'at sevn?')
    log.edit('1', 'at seven?')
    log.started('t1')
    expect(log.texts()).toEqual(['[Ada] at seven?'])
  })

  it('of context changes the context, also its files', () => {
    const log = talk()
    log.say('1', 'see this', { triggers: false, addressed: false, attachments: [{ ref: 'f', fileName: 'a.txt' }] })
    log.edit('1', 'never mind')
    log.say('2', 'well?')
    log.started('t1')
    expect(log.texts()).toEqual(['[Ada] [not directed at you] never mind\n[Ada] well?'])
  })

  it('after the answer is shown in the next prompt as an edit, the last one only', () => {
    const log = talk()
    log.say('1', 'dinner at six')
    log.started('t1')
    log.answered('t1', 'fine')
    log.edit('1', 'dinner at sevn')
    log.edit('1', 'dinner at seven')
    log.say('2', 'when?')
    log.started('t2')
    expect(log.texts()).toEqual([
      '[Ada] dinner at six',
      'fine',
      '[Ada] [edited an earlier message] dinner at seven\n[Ada] when?',
    ])
    expect(log.texts('direct').at(-1)).toBe('[edited an earlier message] dinner at seven\nwhen?')
  })

  it('is another message where the session joins chats', () => {
    const log = talk()
    log.say('1', 'here', { chat: 'telegram:direct:1' })
    log.edit('1', 'there', { chat: 'telegram:direct:2' })
    log.started('t1')
    expect(log.texts('direct')).toEqual(['here\n[edited an earlier message] there'])
  })
})

describe('a deletion', () => {
  it('of a turn that a truncation hides stays gone when a later one shows more', () => {
    const log = talk()
    for (const [id, text] of [
      ['1', 'my number is 12345'],
      ['2', 'and now?'],
    ] as const) {
      log.say(id, text)
      log.started(`t${id}`)
      log.answered(`t${id}`, 'fine')
    }
    log.add({ type: 'history_boundary', data: { kind: 'truncated', turns: 1 } })
    log.remove('1')
    log.add({ type: 'history_boundary', data: { kind: 'truncated', turns: 9 } })
    expect(log.texts().join()).toContain('and now?')
    expect(log.texts().join()).not.toContain('12345')
  })

  it('of a waiting message leaves nothing of it', () => {
    const log = talk()
    log.say('1', 'my secret', { triggers: false })
    log.remove('1')
    log.say('2', 'hello')
    log.started('t1')
    expect(log.texts()).toEqual(['[Ada] hello'])
  })

  it('takes the text out of every later prompt, with quotes and edits of it', () => {
    const log = talk()
    log.say('1', 'my secret')
    log.say('2', 'what?', { quoted: { messageId: '1', text: 'my secret', own: false } })
    log.started('t1')
    log.answered('t1', 'noted')
    log.edit('1', 'my other secret')
    log.say('3', 'and this', { quoted: { messageId: '1', text: 'my other secret', own: false } })
    log.remove('1')
    log.say('4', 'go on')
    log.started('t2')
    expect(log.texts()).toEqual(['[Ada] [deleted this message]\n[Ada] what?', 'noted', '[Ada] and this\n[Ada] go on'])
  })

  it('during the turn counts from the next prompt on, also where the turn is resumed', () => {
    const log = talk()
    log.say('1', 'my secret')
    log.started('t1')
    log.remove('1')
    expect(log.texts('direct')).toEqual(['[deleted this message]'])
    log.answered('t1', 'noted')
    log.say('2', 'hello')
    log.started('t2')
    expect(log.texts('direct')).toEqual(['[deleted this message]', 'noted', 'hello'])
  })

  it('stands before what was delivered here, without its text', () => {
    const log = talk()
    log.say('1', 'my secret', { triggers: false, addressed: false })
    log.add({ type: 'assistant_posted', data: { text: 'Digest', traceId: 'tr_1' as never } })
    log.remove('1')
    log.say('2', 'hello')
    log.started('t1')
    expect(log.texts()[0]).toBe('[Ada] [deleted this message]\n[you posted the following here]')
  })

  it('keeps the row of the log, and a view cut into batches is the same', () => {
    const log = talk()
    log.say('1', 'my secret')
    log.started('t1')
    log.answered('t1', 'noted')
    log.edit('1', 'my other')
    log.remove('1')
    log.say('2', 'hello')
    log.started('t2')
    expect(log.events[0]).toMatchObject({ data: { text: 'my secret' } })
    const whole = extendView(EMPTY_VIEW, log.events, 'group', LIMITS)
    for (let cut = 0; cut <= log.events.length; cut++) {
      const first = extendView(EMPTY_VIEW, log.events.slice(0, cut), 'group', LIMITS)
      expect(extendView(first, log.events.slice(cut), 'group', LIMITS)).toEqual(whole)
    }
  })
})

it('unaddressed context is bounded in length, the oldest first', () => {
  const log = talk()
  log.say('1', 'a'.repeat(150), { triggers: false })
  log.say('2', 'b'.repeat(150), { triggers: false })
  log.say('3', 'c'.repeat(300))
  log.started('t1')
  expect(log.texts('direct')).toEqual([`${'b'.repeat(150)}\n${'c'.repeat(300)}`])
})

it('a digest reads events as they are seen now: edited, and without what was deleted', () => {
  const log = talk()
  log.say('1', 'dinner at six')
  log.say('2', 'my secret')
  log.edit('1', 'dinner at sevn')
  log.edit('1', 'dinner at seven')
  log.remove('2')
  log.remove('1', { chat: 'telegram:direct:5' })
  const texts = amended(log.events).flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
  expect(texts).toEqual(['dinner at seven'])
})

describe('an exchange that was taken back', () => {
  function takenBack(again?: true) {
    const log = talk()
    log.say('1', 'the code is 4711')
    log.started('t1')
    log.answered('t1', 'noted')
    log.say('2', 'at seven', { triggers: false, addressed: false })
    log.say('3', 'my secret is blue')
    log.started('t2')
    log.step('t2', 'c1')
    log.result('t2', 'c1')
    log.answered('t2', 'blue it is')
    log.edit('3', 'my secret is bleu')
    const data = { turn: 't2' as TurnId, messages: [{ messageId: '3' }], command: 'in_1' as InboxId }
    log.add({ type: 'exchange_taken_back', data: { ...data, ...(again && { again }) } })
    return log
  }

  it('is in no later prompt; what others said meanwhile is', () => {
    const log = takenBack()
    log.say('4', 'when?')
    log.started('t3')
    expect(log.texts()).toEqual([
      '[Ada] the code is 4711',
      'noted',
      '[Ada] [not directed at you] at seven\n[Ada] when?',
    ])
  })

  it('is in no list of what was said, neither its words nor its answer nor its tools', () => {
    const shown = JSON.stringify(amended(takenBack().events.filter(({ type }) => type !== 'exchange_taken_back')))
    expect(shown).toContain('blue it is')
    const left = amended(takenBack().events)
    expect(JSON.stringify(left)).not.toMatch(/bl(ue|eu)|clock/)
    expect(JSON.stringify(left)).toContain('at seven')
  })

  it('and asked once more is there once, with its new answer', () => {
    const log = takenBack(true)
    log.say('3', 'my secret is bleu', { row: 'in_3' as InboxId })
    log.started('t3', ['in_3'])
    log.answered('t3', 'bleu then')
    const texts = log.texts()
    expect(texts.slice(2)).toEqual(['[Ada] [not directed at you] at seven\n[Ada] my secret is bleu', 'bleu then'])
    expect(JSON.stringify(amended(log.events)).match(/my secret/g)).toHaveLength(1)
  })
})
