import { expect, it } from 'vitest'
import type { NewQuestion, Question } from '../../src/core/question.ts'
import { closingLine, questionCard } from '../../src/questions/question-card.ts'

const base = { code: 'ab12', text: 'Which?', choices: ['Red'], part: 0 } as unknown as NewQuestion
const NAME = '[free](https://evil.example) **Ada**\n# x'

it('F-H07: a name and an answer on a card are words, no links and no marks', () => {
  const by = { author: 'telegram:1', sender: { id: '1', kind: 'user', displayName: NAME }, identity: { role: 'guest' } }
  const answered = { ...base, state: 'answered', late: false, answer: '<!channel> [x](y)', by } as unknown as Question
  const line = closingLine(answered, 'answered')
  expect(line).toContain('&#91;free&#93;&#40;https&#58;//evil.example&#41; &#42;&#42;Ada&#42;&#42; &#35; x')
  expect(line).toContain('&#60;&#33;channel&#62; &#91;x&#93;&#40;y&#41;')
  expect(questionCard(base, { name: NAME, mark: '/' })).toContain('For &#91;free&#93;')
})

it('F-H07: a long answer on a card is cut between characters', () => {
  const long = { ...base, state: 'answered', late: false, answer: `${'x'.repeat(199)}😀` } as unknown as Question
  expect(closingLine(long, 'answered')).toMatch(/x…$/)
})
