import { expect, it } from 'vitest'
import { GrowingAnswer } from '../../../src/sessions/service/growing-answer.ts'
import { movedClock } from '../../agent/moved-clock.ts'

function rig() {
  const clock = movedClock()
  const seen: string[] = []
  const answer = new GrowingAnswer(clock, (text) => void seen.push(text))
  return { clock, seen, answer }
}

it('S31: the text only ever gets longer, whatever the model writes', () => {
  const { clock, seen, answer } = rig()
  const texts = [
    ' one',
    ' one <NO',
    ' one <NO_REPLY',
    ' one <NO_REPLY>',
    ' one <NO_REPLY> two',
    '',
    'three',
    'th',
    'the end',
  ]
  for (const text of texts) {
    answer.push(text)
    clock.advance(40)
  }
  answer.end('the end')
  expect(seen.every((text, at) => at === 0 || text.startsWith(seen[at - 1] ?? ''))).toBe(true)
  expect(seen.at(-1)).toBe('one  two\n\nthree\n\nthe end')
})

it('a step that ended between two looks is not lost', () => {
  const { seen, answer } = rig()
  answer.push('Let me')
  answer.push('Let me look.')
  answer.push('N')
  answer.end('Now.')
  expect(seen).toEqual(['Let me', 'Let me look.', 'Let me look.\n\nN', 'Let me look.\n\nNow.'])
})

it('half a character waits for its other half', () => {
  const { clock, seen, answer } = rig()
  answer.push('a\ud83d')
  clock.advance(40)
  answer.push('a\ud83d\ude00')
  expect(seen).toEqual(['a', 'a😀'])
})

it('an answer that was begun twice alike is shown once', () => {
  const { clock, seen, answer } = rig()
  for (const text of ['one two', 'o', 'one two three']) {
    answer.push(text)
    clock.advance(40)
  }
  expect(seen).toEqual(['one two', 'one two three'])
})

it('nothing is looked at after its end', () => {
  const { clock, seen, answer } = rig()
  answer.push('a')
  answer.push('a b')
  answer.close()
  clock.advance(1_000)
  expect(seen).toEqual(['a'])
  expect(clock.pending()).toBe(0)
})
