import { expect, test } from 'vitest'
import { readAnswer } from '../../src/questions/question-desk.ts'

const OURS = ['Leave empty', 'Decline', 'Cancel']

test('a number is the answer itself where one is asked for, and names a choice elsewhere', () => {
  expect(readAnswer({ choices: OURS, free: { kind: 'integer' } }, '2')).toEqual({ answer: '2' })
  expect(readAnswer({ choices: OURS, free: { kind: 'number' } }, '3')).toEqual({ answer: '3' })
  expect(readAnswer({ choices: OURS, free: { kind: 'integer' } }, 'decline')).toEqual({ answer: 'Decline', choice: 1 })
  expect(readAnswer({ choices: OURS, free: { kind: 'text' } }, '2')).toEqual({ answer: 'Decline', choice: 1 })
  expect(readAnswer({ choices: OURS, free: { kind: 'text' } }, '4')).toEqual({ answer: '4' })
})

test('words are never longer than 2000 characters, whatever is asked for', () => {
  const free = { kind: 'text', max: 5_000 } as const
  expect(readAnswer({ choices: [], free }, 'é'.repeat(2_000)).answer).toHaveLength(2_000)
  expect(() => readAnswer({ choices: [], free }, 'x'.repeat(2_001))).toThrow('too long: 2000 characters at most')
  expect(() => readAnswer({ choices: [], free: { kind: 'text', max: 3 } }, 'four')).toThrow('3 characters at most')
})

test('no words, and words where only choices count, are told what to say', () => {
  expect(() => readAnswer({ choices: ['Red'] }, 'green')).toThrow('Say a number from 1 to 1 behind the code.')
  expect(() => readAnswer({ choices: [], free: { kind: 'text' } }, ' ')).toThrow('Say your own words behind the code.')
})
