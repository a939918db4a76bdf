import { expect, it } from 'vitest'
import { forgettingHouse } from './forgetting-house.ts'

const receivedIn = (text: string): number => Number(/(\d+) received message/.exec(text)?.[1] ?? 0)
const textsIn = (text: string): number => Number(/(\d+) texts? of mine/.exec(text)?.[1] ?? 0)

it('S41: what was forgotten before is not counted again in what would be', async () => {
  const { say } = await forgettingHouse()
  for (const text of ['the first secret', 'the second secret', 'the third secret']) await say(text)
  expect(receivedIn(await say('/forget me'))).toBeGreaterThanOrEqual(3)
  expect(await say('/forget me yes')).toContain('Forgotten: ')
  const again = await say('/forget me')
  // The commands that were given since, and their answers.
  expect(receivedIn(again)).toBeLessThanOrEqual(2)
  expect(textsIn(again)).toBeLessThanOrEqual(2)
})

it('S41: an answer that was taken back before is not said to be deleted once more', async () => {
  const { say } = await forgettingHouse()
  await say('the first secret')
  await say('/undo')
  await say('the second secret')
  expect(await say('/forget me yes')).toContain('Answers to it are being deleted in the chat: 1.')
})
