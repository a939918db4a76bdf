import { expect, it } from 'vitest'
import type { NewQuestion, Question } from '../../src/core/question.ts'
import { closingLine, questionCard } from '../../src/questions/question-card.ts'

const base = { code: 'ab12', text: 'Which?', choices: ['Red'], part: 0 } as unknown as NewQuestion
const NAME = '[free](https://evil.example) **Ada**\n# x'

it('F-H07: a name and an answer on a card are words, no links and no marks', () => {
  const by = { author: 'telegram:1', sender: { id: '1', kind: 'user', displayName: NAME }, identity: { role: 'guest' } }
  const answered = { ...base, state: 'answered', late: false, answer: '<!channel> [x](y)', by } as unknown as Question
  const line = closingLine(answered, 'answered')
  expect(line).toContain('\\[free\\]\\(https://evil.example\\) \\*\\*Ada\\*\\* \\# x')
  expect(line).toContain('\\<\\!channel\\> \\[x\\]\\(y\\)')
  expect(questionCard(base, { name: NAME, mark: '/' })).toContain('For \\[free\\]')
})

it('F-H07: a long answer on a card is cut between characters', () => {
  const long = { ...base, state: 'answered', late: false, answer: `${'x'.repeat(199)}😀` } as unknown as Question
  expect(closingLine(long, 'answered')).toMatch(/x…$/)
})
