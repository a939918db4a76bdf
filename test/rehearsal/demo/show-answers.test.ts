import { expect, test } from 'vitest'
import { growth } from '../../../src/rehearsal/demo/show-answers.ts'

test.each([
  [undefined, 'Once there was', 'Once there was'],
  ['Once the', 'Once there was', '… there was'],
  ['Once ', 'Once there was', '… there was'],
  ['Twice', 'Once', '(edited) Once'],
])('after %j the message %j is printed as %j', (before, text, printed) => {
  expect(growth(before, text)).toBe(printed)
})
